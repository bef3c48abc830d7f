import { attemptTimeoutMs, deadlineAt } from '../../core/deadline.ts';
import type { RequestFacts } from '../../core/request-session.ts';
import { isIdempotent } from '../../core/safety.ts';
import { isPromise } from '../../engine/ask.ts';
import type { Endpoint } from '../../engine/endpoint.ts';
import { saysDeadline, withDeadline } from '../../engine/deadline-fields.ts';
import { readInboundFacts } from '../../engine/inbound-facts.ts';
import { readRequestAttempt } from '../../engine/request-attempt.ts';
import type { RunRequestOptions } from '../../engine/request-run.ts';
import type { MaybePromise, RunHost } from '../../engine/run-host.ts';
import { fieldValues, hasField, listMembers } from '../../http1/field-list.ts';
import type { FieldList } from '../../http1/message.ts';
import { createReplayBody } from '../../transport/body/replay-body.ts';
import type { NotReplayableReason } from '../../transport/body/replay-body.ts';
import type { RequestBody } from '../../transport/body/request-body.ts';
import type { AttemptRequest } from '../../transport/transport.ts';
import type { Downstream } from '../downstream.ts';
import { beginOwnership } from './exchange-ownership.ts';
import type { ExchangeReport } from './exchange-report.ts';
import { hasIdempotencyKey, upstreamRequestFields } from '../headers.ts';
import { callHook } from './hook-call.ts';
import { DEFAULT_MARGIN_MS } from '../ownership-rules.ts';
import type { Exchange } from '../phases.ts';
import type { ExchangePlan } from '../plan.ts';
import type { ProxyState } from '../proxy-state.ts';
import { tracedAttempt } from '../request-trace.ts';

/** Milliseconds the body is held back for a 100 before it is sent all the same (RFC 9110 §10.1.1). */
const EXPECT_CONTINUE_MS = 1_000;

/** The core reads these anew for each decision. */
type Sent = { -readonly [Fact in keyof RequestFacts]: RequestFacts[Fact] };

/** A client's request on its way upstream: what the core asks of it, its body, and each attempt, built anew. */
export class UpstreamRequest<Context> {
  /** Undefined while nothing is forwarded, and for a request without a body. */
  body: RequestBody | undefined;
  replayLost: NotReplayableReason | undefined;
  /** Its caller waits for less time than is allowed here. */
  hasCallersDeadline = false;
  #deadlineAtMs = Infinity;
  /** The request tells of a deadline, readable or not. */
  #saysDeadline = false;

  #facts: Sent | undefined;
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
    const offers = listMembers(fieldValues(request.fields, 'upgrade').join(','));
    return offers.find((protocol) => allowed.has(protocol.toLowerCase()));
  }

  facts(): Sent {
    const { request, plan } = this.#exchange;
    const { startedAtMs } = this.#report;
    const fields = request.fields as FieldList;
    this.#saysDeadline = plan.policy.ownership !== 'off' && saysDeadline(fields);
    const lineage = readRequestAttempt(fields)?.lineage ?? 0;
    const timeoutMs = this.#saysDeadline ? readInboundFacts(fields).timeoutMs : undefined;
    this.#report.lineage = lineage;
    const ownDeadlineAtMs = deadlineAt(plan.timeouts.requestMs, startedAtMs);
    const callersDeadlineAtMs = startedAtMs + (timeoutMs ?? Infinity);
    this.hasCallersDeadline = callersDeadlineAtMs < ownDeadlineAtMs;
    const nowMs = this.#proxy.clock.nowMs();
    // What cannot be answered before its caller has gone is not begun: its time is over now.
    const isExpired = callersDeadlineAtMs - nowMs <= marginOf(plan);
    this.#deadlineAtMs = isExpired ? nowMs : Math.min(ownDeadlineAtMs, callersDeadlineAtMs);
    return {
      method: request.method,
      keyed: hasIdempotencyKey(fields),
      repeatable: plan.repeatable,
      lineage,
      deadlineAtMs: this.#deadlineAtMs,
    };
  }

  /** What the engine is told of the request, once: its part in error ownership begins here. */
  runOptions(host: RunHost): RunRequestOptions {
    const { plan } = this.#exchange;
    const facts = this.facts();
    this.#facts = facts;
    const ownership = beginOwnership(plan, this.#downstream, facts, this.#proxy);
    this.#report.ownership = ownership;
    const { clock, random } = this.#proxy;
    return {
      facts,
      policy: ownership?.policy ?? plan.policy,
      readAnswer: ownership?.answered,
      tellsHistory: ownership?.tells,
      strangersDeadline: this.hasCallersDeadline && ownership?.isCallerTrusted !== true,
      timeouts: plan.timeouts,
      body: this.body,
      operation: plan.routeName,
      // Of two tunnels one would be cut in the middle of its protocol.
      hedge: this.isTunnel || this.upgrade !== undefined ? undefined : plan.hedge,
      canMove: plan.fallback === undefined ? undefined : () => plan.fallback?.() !== undefined,
      host,
      clock,
      random,
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
      this.#sentAs(method, mutable.fields);
      const timed = this.#timed(mutable.fields, endpoint);
      const attempt = { method, target, fields: timed, body, expectContinueMs, upgrade: this.upgrade, tunnel };
      return this.#traced(attempt, attemptNumber);
    };
    const { hooks } = this.#proxy;
    const hook = hooks.upstreamRequestFilter;
    if (hook === undefined) return built();
    const changed = callHook('upstreamRequestFilter', () => hook.call(hooks, this.#exchange, mutable, endpoint));
    return isPromise(changed) ? changed.then(built) : built();
  }

  /** Tells a callee that is to know how much time is left for it, and passes on nothing that is no longer true. */
  #timed(fields: FieldList, endpoint: Endpoint): FieldList {
    const { plan } = this.#exchange;
    const { ownership, run } = this.#report;
    if (!this.#saysDeadline && ownership === undefined) return fields;
    const upstream = run?.upstream;
    const isTold = ownership !== undefined && upstream !== undefined && ownership.tells({ upstream, endpoint });
    if (!isTold && !this.#saysDeadline) return fields;
    const leftMs = attemptTimeoutMs(plan.timeouts.attemptMs, this.#deadlineAtMs, this.#proxy.clock.nowMs());
    return withDeadline(fields, leftMs, marginOf(plan), isTold);
  }

  /**
   * Whether it may be sent again goes by what upstreams got: a filter that makes a POST of a GET, or takes the key away,
   * makes it a request that must not be doubled.
   */
  #sentAs(method: string, fields: FieldList): void {
    const facts = this.#facts;
    if (facts === undefined) return;
    if (method !== facts.method && !isIdempotent(method)) facts.method = method;
    if (facts.keyed && !hasIdempotencyKey(fields)) facts.keyed = false;
  }

  #traced(attempt: AttemptRequest, attemptNumber: number): AttemptRequest {
    const { trace, startedAtMs } = this.#report;
    if (trace === undefined) return attempt;
    return tracedAttempt(trace, attempt, attemptNumber, this.#proxy.clock.nowMs() - startedAtMs);
  }
}

function marginOf({ ownership }: ExchangePlan): number {
  return ownership?.marginMs ?? DEFAULT_MARGIN_MS;
}
