import type { Participation } from '../../src/core/ownership/call-graph.ts';

export interface ChainFile {
  /** Services A, B, C, … each calling the next. */
  readonly length: number;
  /** Retries of each call, from the top. Default one everywhere. */
  readonly retries?: readonly number[] | undefined;
  /** Share of the last service's requests, or of those of service `failing`, that fail; 0–100. Default 100. */
  readonly errorPercent?: number | undefined;
  /** Its index. Default the last. */
  readonly failing?: number | undefined;
  readonly participation?: Readonly<Record<number, Participation>> | undefined;
  /** Left out: no budget. */
  readonly budgetPercent?: number | undefined;
  /** What it is counted over. Default 1, so that it is spread evenly. */
  readonly budgetIntervalS?: number | undefined;
  /** Default: one request, whose fate is exact. */
  readonly rate?: number | undefined;
  readonly durationS?: number | undefined;
}

/** Services in a row, the last (or another) failing, as a topology file. */
export function chainFile({ length, failing = length - 1, errorPercent = 100, ...rest }: ChainFile): string {
  const { retries = [], participation = {}, budgetPercent, budgetIntervalS = 1, rate, durationS = 60 } = rest;
  const names = Array.from({ length }, (_, index) => `S${index}`);
  const budget =
    budgetPercent === undefined
      ? '{ kind: none }'
      : `{ percent: ${budgetPercent}, interval: ${budgetIntervalS}s, minRetryRate: { count: 0, interval: 1s } }`;
  const services = names.map((name, index) => {
    const next = names[index + 1];
    const retry = `retry: { attempts: ${retries[index] ?? 1}, codes: [500, 502, 503, 504], on: [unsent, timeout], backoff: 1ms }`;
    const calls = next === undefined ? '' : `, calls: [{ to: ${next}, ${retry} }]`;
    const errors = index === failing ? `, errorPercent: ${errorPercent}` : '';
    return `  ${name}: { participation: ${participation[index] ?? 'cooperating'}, operations: { get: { serviceTime: 1ms${errors}${calls} } } }`;
  });
  const arrivals = rate === undefined ? 'rate: 0.01, arrivals: constant' : `rate: ${rate}`;
  return [
    'retryOfRetry: true',
    `defaults: { timeouts: { request: 60s }, retryBudget: ${budget} }`,
    'services:',
    ...services,
    `workload: { duration: ${durationS}s, roots: [{ operation: S0, ${arrivals}, timeouts: { request: 0s, backendRequest: 0s } }] }`,
  ].join('\n');
}
