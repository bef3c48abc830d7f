import type { RouteMatch } from '../gateway-config.ts';
import type { HostPattern } from './hostnames.ts';
import { specificity } from './hostnames.ts';
import type { Resource } from './resource.ts';

/** One match of one rule of one route, at one listener. */
export interface RankedMatch {
  /** The route's own host name, not what is left of it at the listener. */
  readonly hostname: HostPattern;
  readonly match: RouteMatch;
  readonly route: Resource;
  /** Position of the rule, then of the match in it. */
  readonly position: readonly [rule: number, match: number];
}

/** Older first, then by `namespace/name`. */
export function inOrderOfAge(a: Resource, b: Resource): number {
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs < b.createdAtMs ? -1 : 1;
  return compareText(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`);
}

/**
 * The Gateway API's precedence (HTTPRouteRule.matches): the more specific host name, an exact path, the longer prefix, a
 * method, more fields, more query parameters; then the older route, its name, and the order within it.
 */
export function inOrderOfPrecedence(a: RankedMatch, b: RankedMatch): number {
  return (
    larger(specificity(a.hostname), specificity(b.hostname)) ||
    larger(pathRank(a.match), pathRank(b.match)) ||
    larger(Number(a.match.methods !== undefined), Number(b.match.methods !== undefined)) ||
    larger(a.match.fields?.length ?? 0, b.match.fields?.length ?? 0) ||
    larger(a.match.query?.length ?? 0, b.match.query?.length ?? 0) ||
    inOrderOfAge(a.route, b.route) ||
    a.position[0] - b.position[0] ||
    a.position[1] - b.position[1]
  );
}

function larger(a: number, b: number): number {
  if (a === b) return 0;
  return a > b ? -1 : 1;
}

/** A final slash of a prefix means nothing and counts nothing. */
function pathRank({ path }: RouteMatch): number {
  if (path === undefined) return 0;
  return path.kind === 'exact' ? Infinity : path.value.replace(/\/$/, '').length;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
