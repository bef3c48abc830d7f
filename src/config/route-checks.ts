import { defaults } from './defaults.ts';
import type { DataFault, DataPath } from './fault.ts';
import { printable } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import { durationMs, isMapping, list, mapping, repeats } from './plain-data.ts';
import { formatDuration } from './quantity.ts';
import { fieldNameFaults, rewriteFaults, targetFaults, unknownUpstream } from './route-target-checks.ts';

/** A name that leads nowhere, and settings of one route that contradict each other. */
export function routeFaults(path: DataPath, route: Mapping, upstreams: Mapping, upstreamsGiven: boolean): DataFault[] {
  const faults: DataFault[] = [];
  const { upstream } = route;
  if (typeof upstream === 'string') {
    if (upstreamsGiven) faults.push(...unknownUpstream([...path, 'upstream'], upstream, upstreams));
  } else faults.push(...targetFaults([...path, 'upstream'], list(upstream), upstreamsGiven ? upstreams : undefined));
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
  faults.push(...fieldNameFaults([...path, 'match', 'headers'], mapping(match['headers'])));
  faults.push(...tunnelFaults(path, route, upstreams));
  faults.push(...rewriteFaults([...path, 'rewrite'], route['rewrite'], mapping(match['path'])));
  const timeouts = mapping(route['timeouts']);
  faults.push(...timeoutFaults([...path, 'timeouts'], timeouts));
  const request = durationMs(timeouts['request'], defaults.timeouts.request);
  const delay = durationMs(mapping(route['hedge'])['delay']);
  if (delay !== undefined && request !== undefined && request > 0 && delay >= request)
    faults.push({
      severity: 'warning',
      path: [...path, 'hedge', 'delay'],
      message: `${formatDuration(delay)} is not shorter than the request timeout ${formatDuration(request)}: no copy is ever sent`,
      hint: 'lower it to about the 95th percentile of the response time',
    });
  faults.push(...idempotentFaults(path, route));
  return [...faults, ...retryFaults([...path, 'retry'], mapping(route['retry']))];
}

/** A word about repeats where nothing is ever repeated. */
function idempotentFaults(path: DataPath, route: Mapping): DataFault[] {
  const isRepeated = mapping(route['retry'])['attempts'] !== 0 || route['hedge'] !== undefined;
  if (route['idempotent'] !== true || isRepeated) return [];
  const hint = 'nothing is sent twice on this route';
  const message = 'has no effect: retry.attempts is 0, and there is no hedge';
  return [{ severity: 'warning', path: [...path, 'idempotent'], atKey: true, message, hint }];
}

/** Tunnels where there can be none. */
function tunnelFaults(path: DataPath, route: Mapping, upstreams: Mapping): DataFault[] {
  const { upgrade, connect, upstream } = route;
  const faults = repeats([...path, 'upgrade'], list(upgrade), (value) => String(value).toLowerCase());
  const names = typeof upstream === 'string' ? [upstream] : list(upstream).map((target) => mapping(target)['upstream']);
  const isHttp2 = (name: unknown): name is string =>
    typeof name === 'string' && mapping(upstreams[name])['protocol'] === 'http2';
  const http2 = names.find(isHttp2);
  if (http2 === undefined) return faults;
  const asked = { upgrade: upgrade !== undefined, connect: connect === true };
  for (const [field, isAsked] of Object.entries(asked)) {
    if (!isAsked) continue;
    faults.push({
      path: [...path, field],
      atKey: true,
      message: `has no effect: upstream ${printable(http2)} speaks HTTP/2, where a connection cannot become a tunnel`,
      hint: 'give it `protocol: http1` or `auto`',
    });
  }
  return faults;
}

/** An attempt that may take longer than the whole. */
export function timeoutFaults(path: DataPath, timeouts: Mapping): DataFault[] {
  const request = durationMs(timeouts['request'], defaults.timeouts.request);
  const attempt = durationMs(timeouts['backendRequest'], defaults.timeouts.backendRequest);
  if (request === undefined || attempt === undefined || request === 0 || attempt <= request) return [];
  const said =
    timeouts['request'] === undefined
      ? `the default request timeout ${formatDuration(request)}`
      : `request ${formatDuration(request)}`;
  return [
    {
      path: [...path, 'backendRequest'],
      message: `${formatDuration(attempt)} is longer than ${said}`,
      hint: 'one attempt cannot outlast the whole request: lower it, or raise `request` (0s disables it)',
    },
  ];
}

/** Settings of retries that contradict each other, or can have no effect. */
export function retryFaults(path: DataPath, retry: Mapping): DataFault[] {
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
