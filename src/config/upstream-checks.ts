import { isIP } from 'node:net';
import { readAddress } from './address.ts';
import { circuitBreakerFaults, outlierFaults } from './breaker-checks.ts';
import { defaults } from './defaults.ts';
import type { DataFault, DataPath } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import { durationMs, isMapping, list, mapping, repeats } from './plain-data.ts';
import { formatDuration } from './quantity.ts';
import { namePattern } from './schema-parts.ts';
import { tlsFileFaults } from './tls-checks.ts';
import type { TlsFiles } from './tls-files.ts';

/** Names, endpoints that are there twice, files that cannot serve, and settings of another kind of budget. */
export function upstreamFaults(name: string, upstream: Mapping, files?: TlsFiles): DataFault[] {
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
    if (typeof value !== 'string' && !isMapping(value)) return;
    faults.push(...nameFaults([...path, 'endpoints', index], mapping(value), typeof value === 'string'));
    const { address, dns } = mapping(value);
    const reading = readAddress(typeof value === 'string' ? value : (address ?? dns), 'endpoint');
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
  return [
    ...faults,
    ...tlsFaults([...path, 'tls'], mapping(upstream['tls']), files),
    ...healthCheckFaults([...path, 'healthCheck'], mapping(upstream['healthCheck'])),
    ...budgetFaults([...path, 'retryBudget'], mapping(upstream['retryBudget'])),
    ...weightFaults([...path, 'endpoints'], list(upstream['endpoints'])),
    ...circuitBreakerFaults([...path, 'circuitBreaker'], mapping(upstream['circuitBreaker'])),
    ...outlierFaults([...path, 'outlierDetection'], mapping(upstream['outlierDetection'])),
  ];
}

function tlsFaults(path: DataPath, tls: Mapping, files: TlsFiles | undefined): DataFault[] {
  const faults = tlsFileFaults(path, tls, 'ca', files);
  if (tls['verify'] !== false) return faults;
  if (tls['ca'] !== undefined)
    faults.push({
      path: [...path, 'ca'],
      atKey: true,
      message: 'has no effect beside verify: false',
      hint: 'remove `verify`: the authority is enough to trust these servers',
    });
  faults.push({
    severity: 'warning',
    path: [...path, 'verify'],
    message: 'whoever answers at these addresses is believed',
    hint: 'name the authority that issued the certificates: ca: FILE',
  });
  return faults;
}

function weightFaults(path: DataPath, endpoints: readonly unknown[]): DataFault[] {
  const isIdle = endpoints.length > 0 && endpoints.every((endpoint) => mapping(endpoint)['weight'] === 0);
  return isIdle
    ? [
        {
          severity: 'warning',
          path,
          message: 'have all weight 0: every request is answered 503',
          hint: 'give at least one of them a weight',
        },
      ]
    : [];
}

/** An endpoint has an address or a name to ask for; what belongs to a name has no place beside an address. */
function nameFaults(path: DataPath, { address, dns, refresh }: Mapping, isText: boolean): DataFault[] {
  if (isText) return [];
  if (address === undefined && dns === undefined)
    return [
      { path, message: 'has neither address nor dns', hint: 'for example { address: 127.0.0.1:9001, weight: 2 }' },
    ];
  if (address !== undefined && dns !== undefined)
    return [
      { path: [...path, 'dns'], atKey: true, message: 'stands beside an address', hint: 'remove one of the two' },
    ];
  if (dns === undefined)
    return refresh === undefined
      ? []
      : [
          {
            path: [...path, 'refresh'],
            atKey: true,
            message: 'belongs to `dns`',
            hint: 'an address is never asked for',
          },
        ];
  const reading = readAddress(dns, 'endpoint');
  return reading.ok && isIP(reading.value.host) !== 0
    ? [
        {
          path: [...path, 'dns'],
          message: 'is an address, not a name',
          hint: `write { address: ${reading.value.key} }`,
        },
      ]
    : [];
}

function healthCheckFaults(path: DataPath, check: Mapping): DataFault[] {
  const interval = durationMs(check['interval'], defaults.healthCheck.interval);
  const timeout = durationMs(check['timeout'], defaults.healthCheck.timeout);
  const faults = repeats([...path, 'expectedStatus'], list(check['expectedStatus']), String);
  if (interval === undefined || timeout === undefined || timeout <= interval) return faults;
  const where = check['timeout'] === undefined ? 'interval' : 'timeout';
  return [
    ...faults,
    {
      path: [...path, where],
      message: `timeout ${formatDuration(timeout)} is longer than interval ${formatDuration(interval)}`,
      hint: 'an endpoint is asked one question at a time: lower the timeout, or raise the interval',
    },
  ];
}

const budgetFields: Readonly<Record<string, readonly string[]>> = {
  ratio: ['percent', 'interval', 'minRetryRate'],
  'token-bucket': ['percent', 'interval', 'minRetryRate'],
  throttle: ['maxTokens', 'tokenRatio'],
  none: [],
};

/** Settings that belong to another kind of budget. */
export function budgetFaults(path: DataPath, budget: Mapping): DataFault[] {
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
