import { readAddress } from './address.ts';
import { defaults } from './defaults.ts';
import type { DataFault, DataPath } from './fault.ts';
import { printable } from './fault.ts';
import { nearestName } from './nearest-name.ts';
import { formatDuration, readDuration } from './quantity.ts';
import { namePattern } from './schema-parts.ts';
import { defaultRouteName } from './to-config.ts';
import { unreachableRoutes } from './unreachable-routes.ts';

/**
 * What no single setting can know: settings that contradict each other, names that lead nowhere. They look at the plain
 * data, not at the schema's result, so that they run (and report) also when the schema found faults elsewhere.
 */
export function crossChecks(data: unknown): DataFault[] {
  const file = mapping(data);
  const upstreams = mapping(file['upstreams']);
  const faults: DataFault[] = [...listenerFaults(list(file['listeners']))];
  for (const [name, value] of Object.entries(upstreams)) faults.push(...upstreamFaults(name, mapping(value)));
  if (isMapping(file['upstreams']) && Object.keys(upstreams).length === 0)
    faults.push({
      path: ['upstreams'],
      message: 'is empty',
      hint: 'for example { orders: { endpoints: [127.0.0.1:9001] } }',
    });
  const routes = list(file['routes']);
  const names = new Map<string, number>();
  routes.forEach((value, index) => {
    const route = mapping(value);
    faults.push(...routeFaults(['routes', index], route, upstreams, isMapping(file['upstreams'])));
    const name = typeof route['name'] === 'string' ? route['name'] : defaultRouteName(index);
    const first = names.get(name);
    if (first === undefined) names.set(name, index);
    else
      faults.push({
        path: ['routes', index, 'name'],
        message: `"${printable(name)}" is the name of routes[${first}] too`,
        hint: 'give each route a name of its own: records tell them apart by it',
      });
  });
  faults.push(...unreachableRoutes(routes), ...unusedUpstreams(upstreams, routes));
  return faults;
}

type Mapping = Readonly<Record<string, unknown>>;

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapping(value: unknown): Mapping {
  return isMapping(value) ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function durationMs(value: unknown, fallback?: string): number | undefined {
  const reading = readDuration(value === undefined ? fallback : value);
  return reading.ok ? reading.value : undefined;
}

function listenerFaults(listeners: readonly unknown[]): DataFault[] {
  const faults: DataFault[] = [];
  const seen = new Map<string, number>();
  listeners.forEach((value, index) => {
    const reading = readAddress(mapping(value)['address'], 'listener');
    if (!reading.ok || reading.value.port === 0) return;
    const first = seen.get(reading.value.key);
    if (first === undefined) seen.set(reading.value.key, index);
    else
      faults.push({
        path: ['listeners', index, 'address'],
        message: `is the address of listeners[${first}] too`,
        hint: 'remove one of the two',
      });
  });
  return faults;
}

function upstreamFaults(name: string, upstream: Mapping): DataFault[] {
  const path: DataPath = ['upstreams', name];
  const faults: DataFault[] = [];
  if (!namePattern.test(name))
    faults.push({
      path,
      atKey: true,
      message: 'is not a name',
      hint: 'letters, digits, `.`, `_` and `-`, at most 63, beginning with a letter or digit',
    });
  const seen = new Map<string, number>();
  list(upstream['endpoints']).forEach((value, index) => {
    const reading = readAddress(typeof value === 'string' ? value : mapping(value)['address'], 'endpoint');
    if (!reading.ok) return;
    const first = seen.get(reading.value.key);
    if (first === undefined) seen.set(reading.value.key, index);
    else
      faults.push({
        path: [...path, 'endpoints', index],
        message: `${reading.value.key} is endpoints[${first}] too`,
        hint: 'for a larger share write { address, weight }',
      });
  });
  return [...faults, ...budgetFaults([...path, 'retryBudget'], mapping(upstream['retryBudget']))];
}

const budgetFields: Readonly<Record<string, readonly string[]>> = {
  ratio: ['percent', 'interval', 'minRetryRate'],
  'token-bucket': ['percent', 'interval', 'minRetryRate'],
  throttle: ['maxTokens', 'tokenRatio'],
  none: [],
};

function budgetFaults(path: DataPath, budget: Mapping): DataFault[] {
  const kind =
    typeof budget['kind'] === 'string' ? budget['kind'] : budget['kind'] === undefined ? defaults.retryBudget.kind : '';
  const own = Object.hasOwn(budgetFields, kind) ? budgetFields[kind] : undefined;
  if (own === undefined) return [];
  const others = new Set(
    Object.values(budgetFields)
      .flat()
      .filter((field) => !own.includes(field)),
  );
  return Object.keys(budget)
    .filter((field) => others.has(field))
    .map((field) => ({
      path: [...path, field],
      atKey: true,
      message: `does not belong to a budget of kind ${kind}`,
      hint: own.length === 0 ? 'remove it, or choose another kind' : `its settings: ${own.join(', ')}`,
    }));
}

function routeFaults(path: DataPath, route: Mapping, upstreams: Mapping, upstreamsGiven: boolean): DataFault[] {
  const faults: DataFault[] = [];
  const upstream = route['upstream'];
  if (typeof upstream === 'string' && upstream !== '' && upstreamsGiven && !Object.hasOwn(upstreams, upstream)) {
    const known = Object.keys(upstreams);
    const near = nearestName(upstream, known);
    const hint =
      near !== undefined
        ? `did you mean \`${near}\`?`
        : known.length === 0
          ? 'define it under `upstreams`'
          : `defined: ${known
              .slice(0, 10)
              .map((name) => printable(name))
              .join(', ')}`;
    faults.push({ path: [...path, 'upstream'], message: `no upstream is named "${printable(upstream)}"`, hint });
  }
  const match = mapping(route['match']);
  if (isMapping(match['path'])) {
    const kinds = ['prefix', 'exact'].filter((kind) => Object.hasOwn(match['path'] as Mapping, kind));
    if (kinds.length !== 1)
      faults.push({
        path: [...path, 'match', 'path'],
        message: kinds.length === 0 ? 'is empty' : 'has both prefix and exact',
        hint: 'write { prefix: /orders } or { exact: /orders }',
      });
  }
  for (const field of ['hosts', 'methods'])
    faults.push(...repeats([...path, 'match', field], list(match[field]), (value) => String(value).toLowerCase()));
  const timeouts = mapping(route['timeouts']);
  const request = durationMs(timeouts['request'], defaults.timeouts.request);
  const attempt = durationMs(timeouts['backendRequest'], defaults.timeouts.backendRequest);
  if (request !== undefined && attempt !== undefined && request > 0 && attempt > request) {
    const said =
      timeouts['request'] === undefined
        ? `the default request timeout ${formatDuration(request)}`
        : `request ${formatDuration(request)}`;
    faults.push({
      path: [...path, 'timeouts', 'backendRequest'],
      message: `${formatDuration(attempt)} is longer than ${said}`,
      hint: 'one attempt cannot outlast the whole request: lower it, or raise `request` (0s disables it)',
    });
  }
  return [...faults, ...retryFaults([...path, 'retry'], mapping(route['retry']))];
}

function retryFaults(path: DataPath, retry: Mapping): DataFault[] {
  const faults: DataFault[] = [
    ...repeats([...path, 'codes'], list(retry['codes']), String),
    ...repeats([...path, 'on'], list(retry['on']), String),
  ];
  const backoff = durationMs(retry['backoff'], defaults.retry.backoff);
  const maxBackoff = durationMs(retry['maxBackoff']);
  if (retry['maxBackoff'] !== undefined && backoff !== undefined && maxBackoff !== undefined && maxBackoff < backoff) {
    const said =
      retry['backoff'] === undefined
        ? `the default backoff ${formatDuration(backoff)}`
        : `backoff ${formatDuration(backoff)}`;
    faults.push({
      path: [...path, 'maxBackoff'],
      message: `${formatDuration(maxBackoff)} is shorter than ${said}`,
      hint: 'the longest wait cannot be shorter than the first',
    });
  }
  const attempts = retry['attempts'] ?? defaults.retry.attempts;
  const codes = retry['codes'] === undefined ? [] : retry['codes'];
  if (
    typeof attempts === 'number' &&
    attempts > 0 &&
    Array.isArray(retry['on']) &&
    retry['on'].length === 0 &&
    Array.isArray(codes) &&
    codes.length === 0
  ) {
    faults.push({
      path: [...path, 'on'],
      message: `allows ${attempts} ${attempts === 1 ? 'retry' : 'retries'} that can never happen: no failure and no code is named`,
      hint: 'name failures or `codes`, or write attempts: 0 to switch retries off',
    });
  }
  if (attempts === 0) {
    for (const field of ['codes', 'on', 'backoff', 'maxBackoff', 'curve', 'jitter', 'retryAfterMax']) {
      if (retry[field] !== undefined)
        faults.push({
          severity: 'warning',
          path: [...path, field],
          atKey: true,
          message: 'has no effect: attempts is 0',
          hint: 'nothing is retried on this route',
        });
    }
  }
  return faults;
}

function repeats(path: DataPath, values: readonly unknown[], key: (value: unknown) => string): DataFault[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    if (!seen.has(key(value))) {
      seen.add(key(value));
      return [];
    }
    return [
      { path: [...path, index], message: `${printable(String(value))} is there twice`, hint: 'remove one of the two' },
    ];
  });
}

function unusedUpstreams(upstreams: Mapping, routes: readonly unknown[]): DataFault[] {
  const used = new Set(routes.map((route) => mapping(route)['upstream']));
  return Object.keys(upstreams)
    .filter((name) => !used.has(name) && routes.length > 0)
    .map((name) => ({
      severity: 'warning',
      path: ['upstreams', name],
      atKey: true,
      message: 'is used by no route',
      hint: 'remove it, or name it as the upstream of a route',
    }));
}
