import type { RouteConfig } from '../config/gateway-config.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import { fieldValue } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';

/** What a route changes of a request on its way to the upstream. */
export interface Rewrite {
  /** @param path Canonical, without the query. */
  path(path: string): string;
  /** Called for each attempt: after a failover the host is that of the endpoint it went to. */
  host(endpoint: Endpoint): string | undefined;
}

/** `undefined` when the route changes nothing. */
export function createRewrite({ rewrite, match }: RouteConfig): Rewrite | undefined {
  if (rewrite === undefined) return undefined;
  const { host, prefix, fullPath } = rewrite;
  const matched = match.path?.kind === 'prefix' ? match.path.value : '/';
  return {
    path: (path) => fullPath ?? (prefix === undefined ? path : replacePrefix(path, matched, prefix)),
    host: (endpoint) => (host === 'endpoint' ? endpoint.authority : host?.name),
  };
}

/** Whole segments, as the Gateway API's ReplacePrefixMatch: a final slash of either prefix means nothing of its own. */
export function replacePrefix(path: string, matched: string, replacement: string): string {
  const bare = matched.endsWith('/') ? matched.slice(0, -1) : matched;
  const rest = path.slice(bare.length);
  if (!rest.startsWith('/')) return replacement;
  return `${replacement.endsWith('/') ? replacement.slice(0, -1) : replacement}${rest}`;
}

/** Puts `host` in the place of the request's own. */
export function setHost(fields: FieldList, host: string): void {
  if (fieldValue(fields, 'host') === undefined) fields.unshift('Host', host);
  for (let i = 0; i < fields.length; i += 2) if (fields[i]!.toLowerCase() === 'host') fields[i + 1] = host;
}
