import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Placement, Program } from './target.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Whether this checkout has a gateway to measure. */
export function isMulliganBuilt(): boolean {
  return existsSync(main);
}

export interface MulliganVariant {
  /** Writes a JSON line a request into a file of the workspace. */
  readonly isLogging: boolean;
  /** Largest body kept for a second send, in bytes. */
  readonly replayBufferBytes?: number;
  /** The time limits of a request and of an attempt; null switches both off, as 2 GiB bodies need it. */
  readonly timeouts?: { readonly requestMs: number; readonly attemptMs: number } | null;
}

/** The gateway with everything a request meets in production switched on: record, deadline, retries, budget, permits. */
export function prepareMulligan(name: string, placement: Placement, variant: MulliganVariant): Program {
  const { workspace, port, originPort } = placement;
  const { replayBufferBytes = 65_536, timeouts = { requestMs: 15_000, attemptMs: 3_000 } } = variant;
  const log = variant.isLogging ? `accessLog: { path: ${join(workspace.directory, `${name}.log`)} }\n` : '';
  const path = workspace.write(
    `${name}.yaml`,
    `listeners:
  - address: 127.0.0.1:${port}
upstreams:
  origin:
    endpoints: [127.0.0.1:${originPort}]
    connect: { timeout: 1s, maxConnections: 256 }
    retryBudget: { kind: ratio, percent: 20, interval: 10s, minRetryRate: { count: 10, interval: 1s } }
    circuitBreaker: { maxInflightRequests: 1024 }
routes:
  - name: everything
    match: { path: { prefix: / } }
    upstream: origin
    timeouts: { request: ${timeouts?.requestMs ?? 0}ms, backendRequest: ${timeouts?.attemptMs ?? 0}ms }
    retry: { codes: [502, 503, 504], attempts: 2, backoff: 25ms, maxBackoff: 250ms, on: [unsent, rejected, stale, reset, timeout] }
    replayBuffer: ${Math.ceil(replayBufferBytes / 1024)}KiB
shutdown: { drain: 1s }
${log}`,
  );
  return { file: process.execPath, arguments: [main, 'serve', '-c', path] };
}
