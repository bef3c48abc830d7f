import type { HedgePolicy } from '../../src/core/hedging.ts';
import type { StopReason } from '../../src/core/decision.ts';
import type { Failure, FailureKind, FailurePhase } from '../../src/core/failure.ts';
import type { RetryBudget } from '../../src/core/retry-budget.ts';
import type { RetryPolicyOptions } from '../../src/core/retry-policy.ts';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import { parseAddress } from '../../src/engine/endpoint.ts';
import type { RequestRun } from '../../src/engine/request-run.ts';
import type { RunHost } from '../../src/engine/run-host.ts';
import { runRequest } from '../../src/engine/run-request.ts';
import type { Upstream, UpstreamOptions } from '../../src/engine/upstream.ts';
import { createUpstream } from '../../src/engine/upstream.ts';
import type { FieldList, ResponseHead } from '../../src/http1/message.ts';
import type { RequestBody } from '../../src/transport/body/request-body.ts';
import type { Attempt, AttemptHandler, AttemptRequest, SendOptions, Transport } from '../../src/transport/transport.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { ManualClock } from '../support/manual-clock.ts';

/** One send that the engine made, to be answered by the test. */
export class FakeAttempt implements Attempt {
  readonly endpoint: string;
  readonly request: AttemptRequest;
  readonly handler: AttemptHandler;
  readonly options: SendOptions;
  reused = false;
  bytesSent = 0;
  bytesReceived = 0;
  aborted = false;
  resumeCount = 0;

  constructor(endpoint: string, request: AttemptRequest, handler: AttemptHandler, options: SendOptions) {
    this.endpoint = endpoint;
    this.request = request;
    this.handler = handler;
    this.options = options;
  }

  resume(): void {
    this.resumeCount += 1;
  }

  abort(): void {
    this.aborted = true;
  }

  respond(status: number, fields: FieldList = [], body = '', complete = true): void {
    this.bytesReceived = 1;
    this.handler.onHead(responseHead(status, fields, body.length));
    if (body !== '') this.handler.onData(Buffer.from(body));
    if (complete) this.handler.onComplete([]);
  }

  refuse(): void {
    this.fail('connection_refused', 'connect');
  }

  /** Dies after the request was sent. */
  reset(): void {
    this.fail('connection_terminated', 'wait', { bytesSent: 100 });
  }

  fail(kind: FailureKind, phase: FailurePhase, evidence: Partial<Failure> = {}): void {
    this.handler.onFailure({
      kind,
      source: 'upstream',
      phase,
      reused: this.reused,
      bytesSent: 0,
      bytesReceived: 0,
      ...evidence,
    });
  }
}

export function responseHead(status: number, fields: FieldList = [], length = 0): ResponseHead {
  return {
    versionMinor: 1,
    status,
    reason: '',
    fields,
    bodyKind: 'length',
    contentLength: length,
    keepAlive: true,
    keepAliveTimeoutMs: -1,
  };
}

export interface RunFixture {
  readonly clock: ManualClock;
  readonly upstream: Upstream;
  readonly sends: FakeAttempt[];
  /** What the host was told, one word each. */
  readonly told: string[];
  readonly failures: Failure[];
  readonly errors: unknown[];
  readonly run: RequestRun;
  /** The latest send. */
  readonly last: FakeAttempt;
}

export interface FixtureOptions {
  readonly endpoints?: readonly string[];
  readonly policy?: RetryPolicyOptions;
  readonly method?: string;
  readonly keyed?: boolean;
  readonly deadlineMs?: number;
  readonly body?: RequestBody;
  readonly budget?: RetryBudget;
  readonly upstream?: Partial<UpstreamOptions>;
  /** A run whose clock and upstream, with all its sends, this one uses too. */
  readonly shared?: RunFixture;
  readonly hedge?: HedgePolicy;
  readonly operation?: string;
  readonly lineage?: number;
  readonly host?: Partial<RunHost>;
  readonly random?: () => number;
}

/** A run over a transport that only notes what it is asked to send. */
export function startRun(options: FixtureOptions = {}): RunFixture {
  const clock = options.shared?.clock ?? createManualClock();
  const sends: FakeAttempt[] = options.shared?.sends ?? [];
  const transport: Transport = {
    send(endpoint, request, handler, sendOptions) {
      const attempt = new FakeAttempt(endpoint.key, request, handler, sendOptions);
      sends.push(attempt);
      return attempt;
    },
    close() {},
  };
  const endpoints = (options.endpoints ?? ['a:1', 'b:1']).map((key) => ({ address: parseAddress(key) }));
  const upstream =
    options.shared?.upstream ??
    createUpstream({
      name: 'orders',
      endpoints,
      transport,
      loadBalancing: 'round-robin',
      budget: options.budget,
      ...options.upstream,
    });
  const told: string[] = [];
  const failures: Failure[] = [];
  const errors: unknown[] = [];
  const host: RunHost = {
    hashKey: () => '127.0.0.1',
    select: () => ({ upstream }),
    buildRequest: () => ({
      method: 'GET',
      target: '/',
      fields: ['Host', 'a'],
      body: options.body,
      expectContinueMs: 0,
    }),
    onConnected: () => undefined,
    reviewFailure: () => undefined,
    onRetry: (_attempt, delayMs) => void told.push(`retry:${delayMs}`),
    onInformational: (head) => void told.push(`informational:${head.status}`),
    onResponse: (head) => void told.push(`response:${head.status}`),
    onData: (chunk) => {
      told.push(`data:${chunk.toString()}`);
      return true;
    },
    onComplete: () => void told.push('complete'),
    onFailed: (failure, reason: StopReason) => {
      failures.push(failure);
      told.push(`failed:${failure.kind}:${reason}`);
    },
    onTruncated: (failure) => void told.push(`truncated:${failure.kind}`),
    onError: (error) => {
      errors.push(error);
      told.push('error');
    },
    onRefused: (reason) => void told.push(`refused:${reason}`),
    ...options.host,
  };
  const run = runRequest({
    facts: {
      method: options.method ?? 'GET',
      keyed: options.keyed ?? false,
      lineage: options.lineage ?? 0,
      deadlineAtMs: options.deadlineMs ?? Infinity,
    },
    policy: createRetryPolicy({ jitter: 'none', curve: 'fixed', ...options.policy }),
    timeouts: { connectMs: 1000, attemptMs: 0, headMs: 0, idleMs: 0 },
    body: options.body,
    hedge: options.hedge,
    operation: options.operation,
    host,
    clock,
    random: options.random ?? (() => 0.5),
  });
  return {
    clock,
    upstream,
    sends,
    told,
    failures,
    errors,
    run,
    get last() {
      const attempt = sends.at(-1);
      if (attempt === undefined) throw new Error('nothing was sent');
      return attempt;
    },
  };
}
