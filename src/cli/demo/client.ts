import { Agent, request as httpRequest } from 'node:http';
import { requestIdField } from './journal.ts';
import type { RequestSpec } from './scenario.ts';

/** What the client got. */
export interface Answer {
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** Why there was none, as the system calls it: `ECONNREFUSED`. */
  readonly error: string | undefined;
  readonly retryAfter: string | undefined;
  readonly durationMs: number;
}

/** Sends each request once, on one kept-alive connection an address. `node:http` sends nothing again on its own. */
export interface Client {
  /** Never throws: a failure is an answer too. */
  send(address: string, id: string, spec: RequestSpec): Promise<Answer>;
  close(): void;
}

/** Far above anything the demo waits for: a bound, not a measure. */
const timeoutMs = 10_000;

/** @param signal Ends what is under way. */
export function createClient(signal: AbortSignal): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: (address, id, spec) => send(agent, signal, address, id, spec),
    close: () => agent.destroy(),
  };
}

function send(agent: Agent, signal: AbortSignal, address: string, id: string, spec: RequestSpec): Promise<Answer> {
  const startedAtMs = performance.now();
  return new Promise((resolve) => {
    const settle = (status?: number, error?: string, retryAfter?: string): void =>
      resolve({ status, error, retryAfter, durationMs: rounded(performance.now() - startedAtMs) });
    const fail = (error: NodeJS.ErrnoException): void => settle(undefined, error.code ?? error.message);
    const request = httpRequest(`http://${address}${spec.path}`, {
      agent,
      method: spec.method,
      headers: {
        [requestIdField]: id,
        ...(spec.key === undefined ? {} : { 'Idempotency-Key': spec.key }),
        ...(spec.body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(spec.body) }),
      },
      signal,
      timeout: timeoutMs,
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', fail);
    request.on('response', (response) => {
      response.on('error', fail);
      response.on('end', () => settle(response.statusCode, undefined, response.headers['retry-after']));
      response.resume();
    });
    request.end(spec.body);
  });
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
