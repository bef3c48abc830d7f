import type { HealthCheckConfig } from '../config/gateway-config.ts';
import { describeFailure } from '../core/failure-chain.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import type { Clock } from '../transport/clock.ts';
import type { AttemptHandler, Transport } from '../transport/transport.ts';

/** More of an answer's body is not read: its status has said everything. */
const maxBodyBytes = 65_536;

/**
 * One check.
 * @param done Called once, with what is wrong, `undefined` when the endpoint is well; never after `abort`.
 * @returns abort
 */
export function checkHealth(
  transport: Transport,
  endpoint: Endpoint,
  config: HealthCheckConfig,
  clock: Clock,
  done: (problem: string | undefined) => void,
): () => void {
  const { path, timeoutMs, expectedStatus } = config;
  let over = false;
  let status: number | undefined;
  let bodyBytes = 0;

  const finish = (problem: string | undefined): void => {
    if (over) return;
    over = true;
    timer.cancel();
    done(problem);
  };
  const verdict = (): string | undefined => {
    const well = expectedStatus === undefined ? status! >= 200 && status! <= 299 : expectedStatus.includes(status!);
    return well ? undefined : `it answered ${status}`;
  };
  const handler: AttemptHandler = {
    onConnected() {},
    onInformational() {},
    onHead(head) {
      status = head.status;
    },
    onData(chunk) {
      bodyBytes += chunk.length;
      if (bodyBytes > maxBodyBytes && !over) {
        finish(verdict());
        attempt.abort();
      }
      return true;
    },
    onComplete: () => finish(verdict()),
    onFailure: (failure) => finish(describeFailure(failure)),
  };
  const timer = clock.setTimer(timeoutMs, () => {
    if (over) return;
    finish(`no whole answer within ${timeoutMs} ms`);
    attempt.abort();
  });
  timer.unref();
  const attempt = transport.send(
    endpoint.address,
    {
      method: 'GET',
      target: path,
      fields: ['Host', endpoint.authority, 'User-Agent', 'mulligan-health-check', 'Accept', '*/*'],
      body: undefined,
      expectContinueMs: 0,
    },
    handler,
    {
      timeouts: { connectMs: timeoutMs, attemptMs: timeoutMs, headMs: timeoutMs, idleMs: timeoutMs },
      freshConnection: true,
    },
  );
  return () => {
    if (over) return;
    over = true;
    timer.cancel();
    attempt.abort();
  };
}
