import { chainCase } from '../chain-case.ts';
import type { Experiment } from '../experiment.ts';

/** D takes requests and never answers. */
export const timeouts: Experiment = {
  id: 'timeouts',
  cases: [
    { name: 'equal: 0.3 s, 0.3 s, 0.3 s', limitsMs: [300, 300, 300], formula: [1, 2, 4, 8] },
    { name: 'nested: 6 s, 1.5 s, 0.3 s', limitsMs: [6000, 1500, 300], formula: [1, 1, 1, 2] },
    { name: 'equal, and told onwards', limitsMs: [2000, 2000, 2000], timeoutMs: 600, formula: [1, 1, 1, 1] },
  ].map(({ name, limitsMs, timeoutMs, formula }: Case) =>
    chainCase({
      name,
      kinds: ['registered', 'registered', 'registered', 'registered'],
      plan: (index) => ({ hangs: index === 3, attemptMs: limitsMs[index] ?? 0 }),
      requestCount: 2,
      formula,
      topology: { text: hangingFile(limitsMs, timeoutMs) },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }),
  ),
};

interface Case {
  readonly name: string;
  readonly limitsMs: readonly number[];
  readonly timeoutMs?: number;
  readonly formula: readonly number[];
}

function hangingFile(limitsMs: readonly number[], timeoutMs: number | undefined): string {
  const services = limitsMs.map(
    (limitMs, index) =>
      `  S${index}: { operations: { get: { serviceTime: 0s, calls: [{ to: S${index + 1}, timeouts: { request: 0s, backendRequest: ${limitMs}ms } }] } } }`,
  );
  return `
retryOfRetry: true
deadlines: { propagate: ${timeoutMs !== undefined} }
defaults: { retry: { attempts: 1, codes: [502, 504], on: [timeout], backoff: 1ms }, retryBudget: { kind: none } }
services:
${services.join('\n')}
  S3: { operations: { get: { serviceTime: 1ms } } }
workload: { duration: 60s, roots: [{ operation: S0, rate: 0.01, arrivals: constant, timeouts: { request: ${timeoutMs ?? 0}ms, backendRequest: 0s } }] }
faults: [{ service: S3, outage: hangs }]
`;
}
