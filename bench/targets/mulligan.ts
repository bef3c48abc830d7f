import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Placement, Program } from './target.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What runs the gateway: the JavaScript that the package ships, or the TypeScript, whose stripping takes memory. */
export function findGatewayScript(isSource: boolean): string {
  return join(root, isSource ? 'src/cli/main.ts' : 'dist/cli/main.js');
}

/** Brings the JavaScript up to date with the sources. Throws with the compiler's complaints when they have faults. */
export function buildGateway(): void {
  const compiler = join(root, 'node_modules/.bin/tsc');
  const { status, stdout, error } = spawnSync(compiler, ['-b', 'src/cli'], { cwd: root, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(
      `the gateway does not build (--source runs it unbuilt):\n${error?.message ?? stdout.slice(0, 2_000)}`,
    );
}

export interface MulliganVariant {
  /** Writes a JSON line a request into a file of the workspace; otherwise the log is off. */
  readonly isLogging: boolean;
  /** Has the admin interface, so every request is counted for the metrics. */
  readonly isMetered?: boolean;
  /** The time limits of a request and of an attempt; null switches both off, as 2 GiB bodies need it. */
  readonly timeouts?: { readonly requestMs: number; readonly attemptMs: number } | null;
}

/** The gateway with everything a request meets in production switched on: record, deadline, retries, budget, permits. */
export function prepareMulligan(name: string, placement: Placement, variant: MulliganVariant): Program {
  const { workspace, port, originPort } = placement;
  const { timeouts = { requestMs: 15_000, attemptMs: 3_000 } } = variant;
  const log = `accessLog: ${variant.isLogging ? join(workspace.directory, `${name}.log`) : 'off'}\n`;
  const admin = variant.isMetered === true ? 'admin: { address: 127.0.0.1:0 }\n' : '';
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
    replayBuffer: 64KiB
shutdown: { drain: 1s }
${log}${admin}`,
  );
  return { file: process.execPath, arguments: [placement.gatewayScript, 'serve', '-c', path] };
}
