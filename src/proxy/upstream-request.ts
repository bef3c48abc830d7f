import type { RequestFacts } from '../core/request-session.ts';
import { isPromise } from '../engine/ask.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import { readRequestAttempt } from '../engine/request-attempt.ts';
import type { MaybePromise } from '../engine/run-host.ts';
import { fieldValues, hasField, listMembers } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';
import { createReplayBody } from '../transport/replay-body.ts';
import type { NotReplayableReason } from '../transport/replay-body.ts';
import type { RequestBody } from '../transport/request-body.ts';
import type { AttemptRequest } from '../transport/transport.ts';
import type { Downstream } from './downstream.ts';
import type { ExchangeReport } from './exchange-report.ts';
import { hasIdempotencyKey, upstreamRequestFields } from './headers.ts';
import type { Exchange } from './phases.ts';
import type { ProxyState } from './proxy-state.ts';
import { tracedAttempt } from './request-trace.ts';

/** Milliseconds the body is held back for a 100 before it is sent all the same (RFC 9110 §10.1.1). */
const EXPECT_CONTINUE_MS = 1_000;

/** A client's request on its way upstream: what the core asks of it, its body, and each attempt, built anew. */
export class UpstreamRequest<Context> {
  /** Undefined while nothing is forwarded, and for a request without a body. */
  body: RequestBody | undefined;
  replayLost: NotReplayableReason | undefined;

  readonly #proxy: ProxyState<Context>;
  readonly #exchange: Exchange<Context>;
  readonly #downstream: Downstream;
  readonly #report: ExchangeReport<Context>;

  constructor(
    proxy: ProxyState<Context>,
    exchange: Exchange<Context>,
    downstream: Downstream,
    report: ExchangeReport<Context>,
  ) {
    this.#proxy = proxy;
    this.#exchange = exchange;
    this.#downstream = downstream;
    this.#report = report;
  }

  /** Bytes of the request were not read. Nobody reads them, and they would be taken for the next request. */
  get isUnread(): boolean {
    return this.#downstream.body !== undefined && this.body?.complete !== true;
  }

  /** Readies the body, if there is one; nothing is read from the client yet. */
  openBody(): void {
    const { plan } = this.#exchange;
    const source = this.#downstream.body;
    if (source === undefined) return;
    const length = this.#downstream.contentLength;
    this.body = createReplayBody({
      source: plan.tapBody?.(source) ?? source,
      contentLength: length < 0 ? undefined : length,
      capBytes: plan.replayBufferBytes,
      memory: this.#proxy.replayMemory,
      onNotReplayable: (reason) => {
        this.replayLost = reason;
      },
    });
  }

  /** CONNECT, where that is allowed: the tunnel ends at the upstream, whatever authority the client names. */
  get isTunnel(): boolean {
    const { request, plan } = this.#exchange;
    const { openTunnel, body } = this.#downstream;
    return request.method === 'CONNECT' && plan.connect === true && openTunnel !== undefined && body === undefined;
  }

  /** The first protocol the client offers that it may switch to. */
  get upgrade(): string | undefined {
    const { request, plan } = this.#exchange;
    const allowed = plan.upgrade;
    if (allowed === undefined || this.#downstream.offersUpgrade !== true) return undefined;
    const offers = listMembers(fieldValues(request.fields as FieldList, 'upgrade').join(','));
    return offers.find((protocol) => allowed.has(protocol.toLowerCase()));
  }

  facts(): RequestFacts {
    const { request, plan } = this.#exchange;
    const { requestMs } = plan.timeouts;
    const fields = request.fields as FieldList;
    return {
      method: request.method,
      keyed: hasIdempotencyKey(fields),
      repeatable: plan.repeatable,
      lineage: readRequestAttempt(fields)?.lineage ?? 0,
      deadlineAtMs: requestMs === 0 ? Infinity : this.#report.startedAtMs + requestMs,
    };
  }

  build(endpoint: Endpoint, attemptNumber: number): MaybePromise<AttemptRequest> {
    const { request } = this.#exchange;
    const { body } = this;
    const expects = this.#downstream.expectContinue && body !== undefined && body.bytesReceived === 0;
    const fields = upstreamRequestFields(request.fields as FieldList, request, this.#proxy.pseudonym);
    // An HTTP/1.0 client may leave Host out; the upstream is spoken to in HTTP/1.1.
    if (!hasField(fields, 'host')) fields.unshift('Host', request.host === '' ? endpoint.authority : request.host);
    if (expects) fields.push('Expect', '100-continue');
    const tunnel = this.isTunnel;
    const expectContinueMs = expects ? EXPECT_CONTINUE_MS : 0;
    const mutable = { method: request.method, path: request.path, fields };
    const built = (): AttemptRequest => {
      const { method, path: target } = mutable;
      const attempt = { method, target, fields: mutable.fields, body, expectContinueMs, upgrade: this.upgrade, tunnel };
      return this.#traced(attempt, attemptNumber);
    };
    const { hooks } = this.#proxy;
    const hook = hooks.upstreamRequestFilter;
    if (hook === undefined) return built();
    const changed = hook.call(hooks, this.#exchange, mutable, endpoint);
    return isPromise(changed) ? changed.then(built) : built();
  }

  #traced(attempt: AttemptRequest, attemptNumber: number): AttemptRequest {
    const { trace, startedAtMs } = this.#report;
    if (trace === undefined) return attempt;
    return tracedAttempt(trace, attempt, attemptNumber, this.#proxy.clock.nowMs() - startedAtMs);
  }
}
