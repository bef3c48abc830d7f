import type { TestContext } from 'node:test';
import type { Failure } from '../../src/core/failure.ts';
import type { FieldList, ResponseHead } from '../../src/http1/message.ts';
import { createHttp1Transport } from '../../src/transport/http1/http1-transport.ts';
import type { Http1Transport, Http1TransportOptions } from '../../src/transport/http1/http1-transport.ts';
import type { RequestBody } from '../../src/transport/body/request-body.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import type {
  Attempt,
  AttemptHandler,
  AttemptTimeouts,
  ConnectionInfo,
  EndpointAddress,
  Transport,
} from '../../src/transport/transport.ts';
import { createSignal } from '../support/signal.ts';

/** Far beyond any test, so that only what a test sets can run out. */
const farMs = 60_000;

export interface SentAttempt {
  readonly attempt: Attempt;
  /** Handler calls in order: `connected`, `1xx:103`, `head:200`, `data`, `complete`, `failure:kind`. Neighbouring `data` is one entry. */
  readonly calls: readonly string[];
  readonly connections: readonly ConnectionInfo[];
  readonly head: ResponseHead | undefined;
  readonly body: string;
  readonly bodyBytes: number;
  readonly trailers: FieldList | undefined;
  readonly failure: Failure | undefined;
  /** Resolves when `check` is true; it runs after every handler call. */
  until(check: (sent: SentAttempt) => boolean, what?: string): Promise<void>;
  /** Resolves with the attempt's end: complete or failed. */
  ended(): Promise<SentAttempt>;
}

export interface SendInput {
  readonly method?: string;
  readonly target?: string;
  readonly fields?: FieldList;
  readonly body?: RequestBody | undefined;
  readonly expectContinueMs?: number;
  readonly timeouts?: Partial<AttemptTimeouts>;
  readonly fresh?: boolean;
  readonly onConnected?: AttemptHandler['onConnected'];
  readonly onHead?: (head: ResponseHead, attempt: Attempt) => void;
  /** Default: always true. */
  readonly onData?: (chunk: Buffer) => boolean;
}

/** A call, so that the compiler does not take the answer for final. */
export function hasFailed(sent: SentAttempt): boolean {
  return sent.failure !== undefined;
}

export function endpointOf(at: { readonly host: string; readonly port: number }): EndpointAddress {
  return { host: at.host, port: at.port, key: `${at.host}:${String(at.port)}` };
}

/** A transport that the test's end disposes of; the disposal fails the test when a socket is left. */
export function testTransport(t: TestContext, options: Partial<Http1TransportOptions> = {}): Http1Transport {
  const transport = createHttp1Transport({ clock: createSystemClock(), ...options });
  t.after(() => transport.dispose());
  return transport;
}

/** Sends one attempt and writes down what its handler is told. */
export function send(transport: Transport, endpoint: EndpointAddress, input: SendInput = {}): SentAttempt {
  const signal = createSignal();
  const calls: string[] = [];
  const connections: ConnectionInfo[] = [];
  let head: ResponseHead | undefined;
  const chunks: Buffer[] = [];
  let bodyBytes = 0;
  let trailers: FieldList | undefined;
  let failure: Failure | undefined;
  const note = (call: string): void => {
    if (call !== 'data' || calls.at(-1) !== 'data') calls.push(call);
    signal.changed();
  };
  const attempt: Attempt = transport.send(
    endpoint,
    {
      method: input.method ?? 'GET',
      target: input.target ?? '/',
      fields: input.fields ?? ['Host', endpoint.key],
      body: input.body,
      expectContinueMs: input.expectContinueMs ?? 0,
    },
    {
      onConnected(info) {
        connections.push(info);
        note('connected');
        return input.onConnected?.(info);
      },
      onInformational: (interim) => note(`1xx:${String(interim.status)}`),
      onHead(final) {
        head = final;
        note(`head:${String(final.status)}`);
        input.onHead?.(final, attempt);
      },
      onData(chunk) {
        bodyBytes += chunk.length;
        if (bodyBytes < 1 << 20) chunks.push(Buffer.from(chunk));
        note('data');
        return input.onData?.(chunk) ?? true;
      },
      onComplete(fields) {
        trailers = fields;
        note('complete');
      },
      onFailure(what) {
        failure = what;
        note(`failure:${what.kind}`);
      },
    },
    {
      timeouts: { connectMs: farMs, attemptMs: farMs, headMs: farMs, idleMs: farMs, ...input.timeouts },
      freshConnection: input.fresh ?? false,
    },
  );
  const sent: SentAttempt = {
    attempt,
    calls,
    connections,
    get head() {
      return head;
    },
    get body() {
      return Buffer.concat(chunks).toString('latin1');
    },
    get bodyBytes() {
      return bodyBytes;
    },
    get trailers() {
      return trailers;
    },
    get failure() {
      return failure;
    },
    async until(check, what = 'the attempt to go on') {
      await signal.until(() => check(sent), { what, describe: () => calls.join(', ') });
    },
    async ended() {
      await sent.until(() => trailers !== undefined || failure !== undefined, 'the attempt to end');
      return sent;
    },
  };
  return sent;
}
