import { canonicalPath } from '../canonical-path.ts';
import type { DataPath } from '../fault.ts';
import type { RouteMatch } from '../gateway-config.ts';
import type { MatchSpec } from './schema/http-route.ts';

/** Why a rule cannot be in effect as it is written. */
export interface RuleProblem {
  /** Below the rule. */
  readonly path: DataPath;
  readonly reason: 'UnsupportedValue' | 'IncompatibleFilters';
  readonly message: string;
}

type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: RuleProblem };

const unsupported = (path: DataPath, message: string): { ok: false; problem: RuleProblem } => ({
  ok: false,
  problem: { path, reason: 'UnsupportedValue', message },
});

const noRegularExpression = 'RegularExpression is not supported: one can take for ever to match; write the exact value';

/** A match in the words of a route, without its hosts. */
export function readMatch({ path, headers, queryParams, method }: MatchSpec, at: DataPath): Outcome<RouteMatch> {
  if (path.type === 'RegularExpression') return unsupported([...at, 'path', 'type'], noRegularExpression);
  const canonical = readPath(path.value);
  if (!canonical.ok) return unsupported([...at, 'path', 'value'], canonical.message);
  for (const [list, matches] of [
    ['headers', headers],
    ['queryParams', queryParams],
  ] as const) {
    const index = matches.findIndex(({ type }) => type === 'RegularExpression');
    if (index !== -1) return unsupported([...at, list, index, 'type'], noRegularExpression);
  }
  if (method === 'CONNECT') return unsupported([...at, 'method'], 'CONNECT is not supported: no tunnels are opened');
  const host = headers.findIndex(({ name }) => name.toLowerCase() === 'host');
  if (host !== -1) return unsupported([...at, 'headers', host, 'name'], 'Host is not matched here: use spec.hostnames');
  const fields = firstOfName(headers.map(({ name, value }) => ({ name: name.toLowerCase(), value })));
  const query = firstOfName(queryParams.map(({ name, value }) => ({ name, value })));
  return {
    ok: true,
    value: {
      hosts: undefined,
      path: { kind: path.type === 'Exact' ? 'exact' : 'prefix', value: canonical.path },
      methods: method === undefined ? undefined : [method],
      fields: fields.length === 0 ? undefined : fields,
      ...(query.length === 0 ? {} : { query }),
    },
  };
}

/** A path as requests are matched on it. */
export function readPath(
  path: string,
): { readonly ok: true; readonly path: string } | { readonly ok: false; readonly message: string } {
  if (!path.startsWith('/')) return { ok: false, message: 'does not begin with /' };
  if (/[?#]/.test(path)) return { ok: false, message: 'has a query or fragment: it must be a path alone' };
  const canonical = canonicalPath(path);
  return canonical.ok ? canonical : { ok: false, message: `can never match: ${canonical.reason}` };
}

/** Of entries with the same name only the first counts (HTTPHeaderMatch.name). */
function firstOfName<Entry extends { readonly name: string }>(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ name }, index) => entries.findIndex((other) => other.name === name) === index);
}
