import type { RouteRedirect } from '../../config/route-filters.ts';
import type { FieldList } from '../../http1/message.ts';
import type { LocalAnswer } from '../../proxy/phases.ts';
import { replacePrefix } from '../rewrite.ts';
import { bareHost } from '../router.ts';

const wellKnownPort: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * The answer of a redirect.
 * @param path Canonical path and query of the request.
 * @param matchedPrefix The prefix by which the route took the request.
 */
export function redirectAnswer(
  request: { readonly host: string; readonly encrypted: boolean },
  path: string,
  { scheme, host, port, path: change, status }: RouteRedirect,
  matchedPrefix: string,
): LocalAnswer & { readonly fields: FieldList } {
  const target = scheme ?? (request.encrypted ? 'https' : 'http');
  const name = host ?? bareHost(request.host);
  const authority = wellKnownPort[target] === port ? name : `${name}:${port}`;
  const where = changedPath(path === '*' ? '/' : path, change, matchedPrefix);
  // HTTP/1.0 may come without a host: a reference to the same server needs none.
  const location = name === '' ? where : `${target}://${authority}${where}`;
  return { status, fields: ['Location', location] };
}

function changedPath(path: string, change: RouteRedirect['path'], matchedPrefix: string): string {
  if (change === undefined) return path;
  const query = path.indexOf('?');
  const bare = query === -1 ? path : path.slice(0, query);
  const next = change.kind === 'full' ? change.path : replacePrefix(bare, matchedPrefix, change.prefix);
  return query === -1 ? next : next + path.slice(query);
}
