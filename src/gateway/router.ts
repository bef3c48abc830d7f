import { isIP } from 'node:net';
import { canonicalPath, hasPrefix } from '../config/canonical-path.ts';
import type { RouteConfig, RouteMatch } from '../config/gateway-config.ts';
import { fieldValues } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';

/** The part of a request that routes look at. */
export interface RoutedRequest {
  readonly method: string;
  /** With or without port, any case. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  readonly fields: Readonly<FieldList>;
  /** The name of the listener it came in at; undefined where listeners have none. */
  readonly listener?: string | undefined;
}

export type Routing<Target> =
  /** `path`: canonical path and the query as it came; this is what the upstream gets. */
  | { readonly type: 'route'; readonly target: Target; readonly path: string }
  | { readonly type: 'no-route' }
  /** The path cannot be understood in one way only. */
  | { readonly type: 'bad-request'; readonly reason: string };

export interface Router<Target> {
  route(request: RoutedRequest): Routing<Target>;
}

/**
 * First match wins. The path is matched, and forwarded, in its canonical form (see `canonical-path.ts`); hosts without
 * port and case; methods as they are; field values exactly.
 * @param routes Each with what it leads to.
 */
export function createRouter<Target>(
  routes: readonly { readonly route: RouteConfig; readonly target: Target }[],
): Router<Target> {
  const compiled = routes.map(({ route, target }) => ({ matches: compile(route.match), target }));
  const noRoute: Routing<Target> = { type: 'no-route' };
  return {
    route(request) {
      const whole = request.path;
      const query = whole.indexOf('?');
      let path = query === -1 ? whole : whole.slice(0, query);
      // RFC 9112 §3.2.4: `OPTIONS *` asks about the server, not about a path.
      if (!(path === '*' && request.method === 'OPTIONS')) {
        const canonical = canonicalPath(path);
        if (!canonical.ok) return { type: 'bad-request', reason: canonical.reason };
        path = canonical.path;
      }
      const host = bareHost(request.host);
      for (const candidate of compiled) {
        if (candidate.matches(request, host, path))
          return { type: 'route', target: candidate.target, path: query === -1 ? path : path + whole.slice(query) };
      }
      return noRoute;
    },
  };
}

type Matcher = (request: RoutedRequest, host: string, path: string) => boolean;

function compile({ listeners, hosts, path, methods, fields = [], query = [] }: RouteMatch): Matcher {
  const names = hosts === undefined ? undefined : new Set(hosts.filter((host) => !host.startsWith('*.')));
  const suffixes =
    hosts === undefined ? [] : hosts.filter((host) => host.startsWith('*.')).map((host) => host.slice(1));
  const verbs = methods === undefined ? undefined : new Set(methods);
  return (request, host, requestPath) => {
    if (listeners !== undefined && !listeners.includes(request.listener ?? '')) return false;
    if (verbs !== undefined && !verbs.has(request.method)) return false;
    if (
      path !== undefined &&
      !(path.kind === 'exact' ? requestPath === path.value : hasPrefix(requestPath, path.value))
    )
      return false;
    if (
      names !== undefined &&
      !names.has(host) &&
      !suffixes.some((suffix) => host.length > suffix.length && host.endsWith(suffix))
    )
      return false;
    // A field that comes several times is one value: a client cannot add `gold` beside its own tier.
    if (!fields.every(({ name, value }) => fieldValues(request.fields as FieldList, name).join(', ') === value))
      return false;
    return query.length === 0 || hasParameters(request.path, query);
  };
}

/** Of a parameter that comes several times the first counts. */
function hasParameters(path: string, wanted: NonNullable<RouteMatch['query']>): boolean {
  const at = path.indexOf('?');
  if (at === -1) return false;
  const given = new URLSearchParams(path.slice(at + 1));
  return wanted.every(({ name, value }) => given.get(name) === value);
}

/** Lower case, without port and final dot; IPv6 addresses keep their brackets. */
export function bareHost(authority: string): string {
  const host = authority.toLowerCase();
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1);
  const colon = host.indexOf(':');
  const name = colon === -1 ? host : host.slice(0, colon);
  return name.endsWith('.') && isIP(name) === 0 ? name.slice(0, -1) : name;
}
