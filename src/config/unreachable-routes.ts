import { hasPrefix } from './canonical-path.ts';
import type { DataFault } from './fault.ts';
import { isMapping } from './plain-data.ts';

interface Reach {
  readonly hosts: readonly string[] | undefined;
  readonly prefix: string | undefined;
  readonly exact: string | undefined;
  readonly methods: readonly string[] | undefined;
  /** `name: value` of each field that must be there. */
  readonly fields: readonly string[];
}

/** Routes that can get no request, for one earlier route takes all of theirs. */
export function unreachableRoutes(routes: readonly unknown[]): DataFault[] {
  const faults: DataFault[] = [];
  const reaches = routes.slice(0, 1000).map(reachOf);
  reaches.forEach((reach, index) => {
    if (reach === undefined) return;
    const earlier = reaches.findIndex(
      (other, position) => position < index && other !== undefined && covers(other, reach),
    );
    if (earlier !== -1) {
      faults.push({
        severity: 'warning',
        path: ['routes', index],
        message: `gets no request: routes[${earlier}] comes first and takes everything it matches`,
        hint: 'move it up, or make the earlier route narrower',
      });
    }
  });
  return faults;
}

/** `undefined` when the route is too broken to judge. */
function reachOf(route: unknown): Reach | undefined {
  if (typeof route !== 'object' || route === null) return undefined;
  const match = (route as Record<string, unknown>)['match'] ?? {};
  if (typeof match !== 'object') return undefined;
  const { hosts, path, methods, headers = {} } = match as Record<string, unknown>;
  const { prefix, exact } = typeof path === 'object' && path !== null ? (path as Record<string, unknown>) : {};
  if (path !== undefined && typeof prefix !== 'string' && typeof exact !== 'string') return undefined;
  if (
    ![hosts, methods].every(
      (value) => value === undefined || (Array.isArray(value) && value.every((item) => typeof item === 'string')),
    )
  )
    return undefined;
  if (!isMapping(headers)) return undefined;
  return {
    hosts: (hosts as string[] | undefined)?.map((host) => host.toLowerCase().replace(/\.$/, '')),
    prefix: typeof prefix === 'string' ? prefix : undefined,
    exact: typeof exact === 'string' ? exact : undefined,
    methods: methods as string[] | undefined,
    fields: Object.entries(headers).map(([name, value]) => {
      const text = isMapping(value) && Object.keys(value).length === 1 ? (value['exact'] ?? value) : value;
      return `${name.toLowerCase()}: ${JSON.stringify(text)}`;
    }),
  };
}

function covers(wide: Reach, narrow: Reach): boolean {
  return (
    coversHosts(wide.hosts, narrow.hosts) &&
    coversPath(wide, narrow) &&
    coversAll(wide.methods, narrow.methods, (a, b) => a === b) &&
    wide.fields.every((field) => narrow.fields.includes(field))
  );
}

function coversAll(
  wide: readonly string[] | undefined,
  narrow: readonly string[] | undefined,
  one: (wide: string, narrow: string) => boolean,
): boolean {
  if (wide === undefined) return true;
  return narrow !== undefined && narrow.every((value) => wide.some((candidate) => one(candidate, value)));
}

function coversHosts(wide: readonly string[] | undefined, narrow: readonly string[] | undefined): boolean {
  return coversAll(
    wide,
    narrow,
    (a, b) => a === b || (a.startsWith('*.') && b.endsWith(a.slice(1)) && b !== a.slice(1)),
  );
}

function coversPath(wide: Reach, narrow: Reach): boolean {
  if (wide.exact !== undefined) return narrow.exact === wide.exact;
  if (wide.prefix === undefined) return true;
  const path = narrow.exact ?? narrow.prefix;
  return path !== undefined && hasPrefix(path, wide.prefix);
}
