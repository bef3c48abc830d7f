import type { Decision, StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import { describeFailure } from '../core/failure-chain.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import { isPromise } from '../engine/ask.ts';
import type { DecisionOverride, MaybePromise, RunHost, Selection } from '../engine/run-host.ts';
import type { RequestRun } from '../engine/request-run.ts';
import { readRequestAttempt } from '../engine/request-attempt.ts';
import { runRequest } from '../engine/run-request.ts';
import { fieldValue, hasField } from '../http1/field-list.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import { createReplayBody } from '../transport/replay-body.ts';
import type { NotReplayableReason } from '../transport/replay-body.ts';
import type { RequestBody } from '../transport/request-body.ts';
import type { AttemptRequest, ConnectionInfo } from '../transport/transport.ts';
import type { AccessRecord, ResponseFlag } from './access-record.ts';
import { buildRecord } from './access-record.ts';
import type { Downstream, DownstreamListener } from './downstream.ts';
import type { ErrorResponse } from './error-response.ts';
import {
  errorResponse,
  localResponse,
  refusedResponse,
  renderErrorResponse,
  thrownResponse,
} from './error-response.ts';
import { ExchangeAnswer } from './exchange-answer.ts';
import type { EventOrigin } from './exchange-events.ts';
import { tellEnd, tellRetry } from './exchange-events.ts';
import { downstreamResponseFields, forbiddenNomination, hasIdempotencyKey, upstreamRequestFields } from './headers.ts';
import type { Exchange, LocalAnswer, MutableResponse, ProxyHooks, ProxyRequest } from './phases.ts';
import type { ExchangePlan } from './plan.ts';
import { pathWithoutQuery, readProxyRequest } from './proxy-request.ts';
import type { ProxyState } from './proxy-state.ts';
import type { RequestTrace } from './request-trace.ts';
import { arrivedRequest, tracedAttempt } from './request-trace.ts';
import { statusTitle } from './status-title.ts';

/** Milliseconds the body is held back for a 100 before it is sent all the same (RFC 9110 §10.1.1). */
const EXPECT_CONTINUE_MS = 1_000;

/**
 * One request from its head to its record. It is the host of the engine's run and the listener of the downstream:
 * whatever happens on either side comes through here, and `#finish` is reached exactly once.
 */
export class ProxyExchange<Context> implements Exchange<Context>, RunHost, DownstreamListener {
  readonly request: ProxyRequest;
  context!: Context;
  plan: ExchangePlan;

  readonly #proxy: ProxyState<Context>;
  readonly #hooks: ProxyHooks<Context>;
  readonly #downstream: Downstream;
  readonly #answer: ExchangeAnswer;
  readonly #startedAtMs: number;
  readonly #startedWallMs: number;
  readonly #trace: RequestTrace | undefined;
  #run: RequestRun | undefined;
  #body: RequestBody | undefined;
  #ended = false;
  #truncated = false;
  #failure: Failure | undefined;
  #error: string | undefined;
  #extraFlag: ResponseFlag | undefined;
  #replayLost: NotReplayableReason | undefined;
  /** Given when the first event of this request is told. */
  #requestId = 0;

  constructor(proxy: ProxyState<Context>, downstream: Downstream, listener: string | undefined) {
    this.#proxy = proxy;
    this.#hooks = proxy.hooks;
    this.#downstream = downstream;
    this.#answer = new ExchangeAnswer(downstream);
    this.#startedAtMs = proxy.clock.nowMs();
    this.#startedWallMs = proxy.clock.wallMs();
    this.plan = proxy.plan;
    this.request = readProxyRequest(downstream, listener);
    if (proxy.tracing?.active === true)
      this.#trace = proxy.tracing.begin(arrivedRequest(downstream, this.#startedWallMs));
    downstream.listener = this;
  }

  get attemptNumber(): number {
    return this.#run?.attempts.length ?? 0;
  }

  start(): void {
    if (this.request.method === 'CONNECT') {
      return this.#answerError(localResponse(405, 'This proxy opens no tunnels.'));
    }
    const nominated = forbiddenNomination(this.request.fields as FieldList);
    if (nominated !== undefined) {
      return this.#answerError(localResponse(400, `Connection must not nominate the end-to-end field ${nominated}.`));
    }
    let answer: MaybePromise<LocalAnswer | void>;
    try {
      this.context = this.#hooks.createContext?.(this.request) as Context;
      answer = this.#hooks.requestFilter?.(this);
    } catch (error) {
      return this.onError(error);
    }
    if (isPromise(answer)) {
      answer.then(
        (value) => this.#filtered(value),
        (error: unknown) => this.onError(error),
      );
    } else this.#filtered(answer);
  }

  /** A request that the listener refused before it was whole: answered, recorded, never forwarded. */
  refuse(status: number, detail: string): void {
    this.#extraFlag = 'DPE';
    this.#answerError(localResponse(status, detail));
  }

  #filtered(answer: LocalAnswer | void): void {
    if (this.#ended) return;
    if (answer === undefined) return this.#forward();
    this.#extraFlag = answer.flag;
    const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : Buffer.from(answer.body ?? []);
    this.#leaveUnreadBody();
    try {
      this.#answer.whole(answer.status, statusTitle(answer.status), [...(answer.fields ?? [])], body);
    } catch (error) {
      return this.onError(error);
    }
    this.#finish();
  }

  #forward(): void {
    const { plan, request } = this;
    const { clock, random, replayMemory } = this.#proxy;
    const source = this.#downstream.body;
    if (source !== undefined) {
      const length = this.#downstream.contentLength;
      this.#body = createReplayBody({
        source: plan.tapBody?.(source) ?? source,
        contentLength: length < 0 ? undefined : length,
        capBytes: plan.replayBufferBytes,
        memory: replayMemory,
        onNotReplayable: (reason) => {
          this.#replayLost = reason;
        },
      });
    }
    const { requestMs } = plan.timeouts;
    const facts = {
      method: request.method,
      keyed: hasIdempotencyKey(request.fields as FieldList),
      lineage: readRequestAttempt(request.fields as FieldList)?.lineage ?? 0,
      deadlineAtMs: requestMs === 0 ? Infinity : this.#startedAtMs + requestMs,
    };
    const options = {
      facts,
      policy: plan.policy,
      timeouts: plan.timeouts,
      body: this.#body,
      operation: plan.routeName,
      hedge: plan.hedge,
      canMove: plan.fallback === undefined ? undefined : () => plan.fallback?.() !== undefined,
      host: this,
      clock,
      random,
    };
    runRequest(options, (run) => {
      this.#run = run;
    });
  }

  // --- RunHost -----------------------------------------------------------------------------------------------------

  select(): MaybePromise<Selection | undefined> {
    const hook = this.#hooks.selectUpstream;
    if (hook === undefined) {
      const { upstream } = this.plan;
      return upstream === undefined ? undefined : { upstream };
    }
    const choice = hook.call(this.#hooks, this);
    if (isPromise(choice)) return choice.then((value) => this.#proxy.resolveChoice(value));
    return this.#proxy.resolveChoice(choice);
  }

  hashKey(header: string | undefined): string {
    const { fields, remoteAddress } = this.request;
    return (header === undefined ? undefined : fieldValue(fields as FieldList, header)) || remoteAddress;
  }

  buildRequest(endpoint: Endpoint, attemptNumber: number): MaybePromise<AttemptRequest> {
    const { request } = this;
    const body = this.#body;
    const expects = this.#downstream.expectContinue && body !== undefined && body.bytesReceived === 0;
    const fields = upstreamRequestFields(request.fields as FieldList, request);
    // An HTTP/1.0 client may leave Host out; the upstream is spoken to in HTTP/1.1.
    if (!hasField(fields, 'host')) fields.unshift('Host', request.host === '' ? endpoint.authority : request.host);
    if (expects) fields.push('Expect', '100-continue');
    const expectContinueMs = expects ? EXPECT_CONTINUE_MS : 0;
    const mutable = { method: request.method, path: request.path, fields };
    const built = (): AttemptRequest => {
      const { method, path: target } = mutable;
      const attempt = { method, target, fields: mutable.fields, body, expectContinueMs };
      return this.#trace === undefined
        ? attempt
        : tracedAttempt(this.#trace, attempt, attemptNumber, this.#proxy.clock.nowMs() - this.#startedAtMs);
    };
    const hook = this.#hooks.upstreamRequestFilter;
    if (hook === undefined) return built();
    const changed = hook.call(this.#hooks, this, mutable, endpoint);
    return isPromise(changed) ? changed.then(built) : built();
  }

  onConnected(info: ConnectionInfo): MaybePromise<void> {
    return this.#hooks.connected?.(this, info);
  }

  reviewFailure(failure: Failure, decision: Decision): MaybePromise<DecisionOverride | undefined> {
    const { failToConnect, errorWhileProxy } = this.#hooks;
    const hook = isBeforeConnection(failure) ? failToConnect : errorWhileProxy;
    return hook?.call(this.#hooks, this, failure, decision) as MaybePromise<DecisionOverride | undefined>;
  }

  onRetry(attempt: AttemptRecord, delayMs: number): void {
    const { diagnostics, events } = this.#proxy;
    if (events?.active === true) tellRetry(events, this.#origin(), attempt, this.attemptNumber, delayMs);
    if (diagnostics === undefined) return;
    if (this.#wordOf('suppressRetryLog', () => this.#hooks.suppressRetryLog?.(this)) === true) return;
    const what = attempt.detail ?? `answered ${attempt.status}`;
    diagnostics(
      'warn',
      `attempt ${this.attemptNumber} at ${attempt.endpoint} failed: ${what}; retry=true wait=${Math.round(delayMs)}ms, ${this.#summary()}`,
    );
  }

  onInformational(head: ResponseHead): void {
    if (this.#ended || this.#answer.headSent || this.request.protocol === '1.0') return;
    // A client that did not wait for it would take an unasked 100 for the answer of a later request.
    if (head.status === 100 && !this.#downstream.expectContinue) return;
    this.#downstream.informational(head.status, head.reason, downstreamResponseFields(head.fields, head.versionMinor));
  }

  onResponse(head: ResponseHead): MaybePromise<void> {
    const fields = downstreamResponseFields(head.fields, head.versionMinor);
    const hook = this.#hooks.responseFilter;
    if (hook === undefined) return this.#sendHead(head.status, head.reason, fields, head);
    const response: MutableResponse = { status: head.status, reason: head.reason, fields };
    const changed = hook.call(this.#hooks, this, response);
    const send = (): void => this.#sendHead(response.status, response.reason, response.fields, head);
    return isPromise(changed) ? changed.then(send) : send();
  }

  onData(chunk: Buffer): boolean {
    if (this.#ended) return true;
    return this.#answer.data(chunk);
  }

  onComplete(trailers: FieldList): void {
    if (this.#ended) return;
    this.#downstream.end(trailers);
    this.#finish();
  }

  onFailed(failure: Failure, reason: StopReason): void {
    this.#failure = failure;
    if (failure.source === 'downstream' && failure.kind === 'downstream_closed') return this.gone();
    const answer = errorResponse(failure, reason, this.#run?.retryAfterMs);
    if (answer === undefined) return this.#finish();
    const hook = this.#hooks.failToProxy;
    if (hook === undefined) return this.#answerError(answer);
    let changed: MaybePromise<ErrorResponse | void>;
    try {
      changed = hook.call(this.#hooks, this, failure, answer);
    } catch (error) {
      return this.onError(error);
    }
    if (!isPromise(changed)) return this.#answerError(changed ?? answer);
    changed.then(
      (value) => this.#answerError(value ?? answer),
      (error: unknown) => this.onError(error),
    );
  }

  onRefused(reason: StopReason): void {
    if (reason === 'circuit-open') this.#extraFlag = 'CB';
    this.#answerError(refusedResponse(reason, this.#run?.retryAfterMs));
  }

  onTruncated(failure: Failure): void {
    if (this.#ended) return;
    this.#failure = failure;
    this.#truncate();
  }

  /** User code threw. */
  onError(error: unknown): void {
    if (this.#ended) return;
    this.#error = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (!this.#answer.headSent) return this.#answerError(thrownResponse(error));
    this.#truncate();
  }

  // --- DownstreamListener ------------------------------------------------------------------------------------------

  gone(): void {
    if (this.#ended) return;
    this.#extraFlag = 'DC';
    this.#run?.cancel();
    if (!this.#answer.headSent) this.#answer.status = 499;
    else this.#truncated = true;
    this.#finish();
  }

  cut(): void {
    if (this.#ended) return;
    this.#error = 'cut: the process ended before the request did';
    this.#run?.cancel();
    if (!this.#answer.headSent) return this.#answerError(localResponse(503, 'This gateway is shutting down.'));
    this.#truncate();
  }

  drained(): void {
    this.#run?.resume();
  }

  // --- answers -----------------------------------------------------------------------------------------------------

  #answerError(answer: ErrorResponse): void {
    if (this.#ended) return;
    this.#leaveUnreadBody();
    try {
      this.#answerWith(answer);
    } catch (error) {
      // A hook put into the answer what cannot be written: nothing was sent yet, and this one is ours alone.
      this.#error ??= String(error);
      this.#answerWith(thrownResponse(error));
    }
    this.#finish();
  }

  #answerWith(answer: ErrorResponse): void {
    const { fields, body } = renderErrorResponse(answer, { reason: this.#run?.reason, attempts: this.attemptNumber });
    if (answer.status === 405) fields.push('Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, QUERY');
    this.#answer.whole(answer.status, answer.title, fields, body);
  }

  #sendHead(status: number, reason: string, fields: FieldList, head: ResponseHead): void {
    if (this.#ended) return;
    this.#body?.commit();
    this.#leaveUnreadBody();
    this.#answer.head(status, reason, fields, head);
  }

  /** Bytes of a request that nobody reads would be taken for the next request. */
  #leaveUnreadBody(): void {
    if (this.#downstream.body !== undefined && this.#body?.complete !== true) this.#downstream.closeAfterResponse();
  }

  /** An answer that began cannot be completed: the client must see that. */
  #truncate(): void {
    this.#truncated = true;
    this.#downstream.abort();
    this.#finish();
  }

  // --- the end -----------------------------------------------------------------------------------------------------

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#body?.destroy();
    this.#logError();
    this.#writeRecord();
    this.#proxy.exchangeEnded();
  }

  #logError(): void {
    const { diagnostics } = this.#proxy;
    const failure = this.#failure;
    const what = this.#error ?? (failure === undefined ? undefined : describeFailure(failure));
    if (diagnostics === undefined || what === undefined) return;
    const hooks = this.#hooks;
    if (
      failure !== undefined &&
      this.#wordOf('suppressErrorLog', () => hooks.suppressErrorLog?.(this, failure)) === true
    )
      return;
    const reason = this.#run?.reason ?? 'none';
    const facts = `status=${this.#answer.status} attempts=${this.attemptNumber} retry=false reason=${reason}`;
    diagnostics('error', `${what}; ${facts}, ${this.#summary()}`);
  }

  /** Asks a hook that only shapes a line of the log: when it throws, the line is written as if it were not there. */
  #wordOf<T>(hook: string, ask: () => T | undefined): T | undefined {
    try {
      return ask();
    } catch (error) {
      this.#proxy.hookFault(hook, error);
      return undefined;
    }
  }

  #writeRecord(): void {
    const { onRecord, events } = this.#proxy;
    const { log } = this.#hooks;
    const isTold = events?.active === true;
    const trace = this.#trace;
    if (log === undefined && onRecord === undefined && trace === undefined && !isTold) return;
    const record = this.#record();
    trace?.ended(record, this.#failure?.kind);
    if (isTold) tellEnd(events, this.#origin(), record);
    onRecord?.(record);
    if (log === undefined) return;
    try {
      const logged = log.call(this.#hooks, this, record);
      if (isPromise(logged)) logged.catch((error: unknown) => this.#proxy.hookFault('log', error));
    } catch (error) {
      this.#proxy.hookFault('log', error);
    }
  }

  #summary(): string {
    const own = this.#wordOf('requestSummary', () => this.#hooks.requestSummary?.(this));
    return own ?? `${this.request.method} ${pathWithoutQuery(this.request.path)}, host ${this.request.host}`;
  }

  #origin(): EventOrigin {
    this.#requestId ||= this.#proxy.nextRequestId();
    const { routeName: route } = this.plan;
    return { requestId: this.#requestId, atMs: this.#proxy.clock.wallMs(), route, upstream: this.#run?.upstream?.name };
  }

  #record(): AccessRecord {
    return buildRecord({
      request: this.request,
      plan: this.plan,
      run: this.#run,
      startedWallMs: this.#startedWallMs,
      durationMs: this.#proxy.clock.nowMs() - this.#startedAtMs,
      status: this.#answer.status,
      truncated: this.#truncated,
      bytesIn: this.#body?.bytesReceived ?? 0,
      bytesOut: this.#answer.bytesOut,
      extraFlag: this.#extraFlag,
      failure: this.#failure,
      error: this.#error,
      replayLost: this.#replayLost,
    });
  }
}

function isBeforeConnection(failure: Failure): boolean {
  return failure.phase === 'select' || failure.phase === 'connect' || failure.phase === 'tls';
}
