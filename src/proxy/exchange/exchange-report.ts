import type { Failure } from '../../core/failure.ts';
import { ask } from '../../engine/ask.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import type { RequestRun } from '../../engine/request-run.ts';
import type { FieldList, ResponseHead } from '../../http1/message.ts';
import type { AccessRecord, ExchangeFacts, ResponseFlag } from '../access-record.ts';
import { buildRecord } from '../access-record.ts';
import type { ClientPeer } from '../client-peer.ts';
import type { EventOrigin } from './exchange-events.ts';
import { tellEnd, tellRetry } from './exchange-events.ts';
import { ExchangeLines } from './exchange-lines.ts';
import { beginOwnership, type ExchangeOwnership } from './exchange-ownership.ts';
import { hasIdempotencyKey } from '../headers.ts';
import { callHook } from './hook-call.ts';
import type { Exchange } from '../phases.ts';
import type { ProxyState } from '../proxy-state.ts';
import type { RequestTrace } from '../request-trace.ts';

/** What only the exchange itself can tell at its end. */
export type ExchangeTotals = Pick<ExchangeFacts, 'status' | 'bytesIn' | 'bytesOut' | 'replayLost'>;

/** What is told of one request: lines for people, events, its trace, and at the end one record. */
export class ExchangeReport<Context> {
  readonly startedAtMs: number;
  readonly startedWallMs: number;
  run: RequestRun | undefined;
  trace: RequestTrace | undefined;
  truncated = false;
  failure: Failure | undefined;
  /** What went wrong here, whatever became of the upstream: user code threw, a loop, the end of the process. */
  fault: Failure | undefined;
  /** Why nothing was asked of anybody, where nothing went wrong: the client asked for what is not given. */
  refusal: string | undefined;
  /** A flag that no failure carries. */
  flag: ResponseFlag | undefined;
  /** Retries made above it; 0 as long as no upstream is asked. */
  lineage = 0;
  /** Undefined: it takes no part in error ownership, or no upstream was asked and nothing went wrong. */
  ownership: ExchangeOwnership | undefined;

  readonly #proxy: ProxyState<Context>;
  readonly #exchange: Exchange<Context>;
  readonly #client: ClientPeer;
  readonly #lines: ExchangeLines<Context>;
  /** Given when the first event of this request, or its record, is told. */
  #id = 0;

  constructor(proxy: ProxyState<Context>, exchange: Exchange<Context>, client: ClientPeer) {
    this.#proxy = proxy;
    this.#exchange = exchange;
    this.#client = client;
    this.#lines = new ExchangeLines(proxy, exchange);
    this.startedAtMs = proxy.clock.nowMs();
    this.startedWallMs = proxy.clock.wallMs();
  }

  retryScheduled(attempt: AttemptRecord, delayMs: number): void {
    this.ownership?.retried(attempt);
    const { events } = this.#proxy;
    const { attemptNumber } = this.#exchange;
    if (events?.active === true) tellRetry(events, this.#origin(), attempt, attemptNumber, delayMs);
    this.#lines.retried(attempt, attemptNumber, delayMs);
  }

  /** The fields of an answer as its client gets them: with a claim, for a caller that is trusted. */
  told(status: number, fields: FieldList, head?: ResponseHead): FieldList {
    if (status >= 400) this.ownership ??= this.#beginUnsent();
    if (this.ownership === undefined) return fields;
    const { failure, fault, run } = this;
    const answer =
      head === undefined ? { status, fields, failure, isOwn: fault !== undefined } : { status, fields, head };
    return this.ownership.told(answer, run, this.#exchange.plan.routeName);
  }

  /** An error before any upstream was asked takes part too: its caller must know that nobody else can retry it. */
  #beginUnsent(): ExchangeOwnership | undefined {
    const { request, plan } = this.#exchange;
    const keyed = hasIdempotencyKey(request.fields as FieldList);
    const facts = { method: request.method, keyed, lineage: this.lineage, deadlineAtMs: Infinity };
    return beginOwnership(plan, this.#client, facts, this.#proxy);
  }

  /** The last word, once a request. */
  ended(totals: ExchangeTotals): void {
    const failure = this.fault ?? this.failure;
    if (failure !== undefined) this.#lines.failed(failure, totals.status, this.run?.reason);
    this.#writeRecord(totals);
  }

  #writeRecord(totals: ExchangeTotals): void {
    const { onRecord, events, hooks } = this.#proxy;
    const { trace } = this;
    const { log } = hooks;
    const isTold = events?.active === true;
    if (log === undefined && onRecord === undefined && trace === undefined && !isTold) return;
    const record = this.#record(totals);
    trace?.ended(record, (this.fault ?? this.failure)?.kind);
    if (isTold) tellEnd(events, this.#origin(), record);
    onRecord?.(record);
    if (log === undefined) return;
    ask(
      () => callHook('log', () => log.call(hooks, this.#exchange, record)),
      () => {},
      (error) => this.#proxy.hookFault(error),
    );
  }

  #requestId(): number {
    this.#id ||= this.#proxy.nextRequestId();
    return this.#id;
  }

  #origin(): EventOrigin {
    const { routeName: route } = this.#exchange.plan;
    return {
      requestId: this.#requestId(),
      atMs: this.#proxy.clock.wallMs(),
      route,
      upstream: this.run?.upstream?.name,
    };
  }

  #record({ status, bytesIn, bytesOut, replayLost }: ExchangeTotals): AccessRecord {
    return buildRecord({
      requestId: this.#requestId(),
      request: this.#exchange.request,
      plan: this.#exchange.plan,
      run: this.run,
      startedWallMs: this.startedWallMs,
      durationMs: this.#proxy.clock.nowMs() - this.startedAtMs,
      status,
      refusal: this.refusal,
      truncated: this.truncated,
      bytesIn,
      bytesOut,
      extraFlag: this.flag,
      failure: this.failure,
      fault: this.fault,
      replayLost,
      lineage: this.lineage,
      callerTrusted: this.ownership?.isCallerTrusted,
      claimOut: this.ownership?.claimOut,
    });
  }
}
