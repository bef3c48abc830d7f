import type { Failure } from '../core/failure.ts';
import { describeFailure } from '../core/failure-chain.ts';
import { isPromise } from '../engine/ask.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import type { RequestRun } from '../engine/request-run.ts';
import type { AccessRecord, ExchangeFacts, ResponseFlag } from './access-record.ts';
import { buildRecord } from './access-record.ts';
import type { EventOrigin } from './exchange-events.ts';
import { tellEnd, tellRetry } from './exchange-events.ts';
import type { Exchange } from './phases.ts';
import { pathWithoutQuery } from './proxy-request.ts';
import type { ProxyState } from './proxy-state.ts';
import type { RequestTrace } from './request-trace.ts';

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
  /** What user code threw. */
  error: string | undefined;
  /** A flag that no failure carries. */
  flag: ResponseFlag | undefined;

  readonly #proxy: ProxyState<Context>;
  readonly #exchange: Exchange<Context>;
  /** Given when the first event of this request, or its record, is told. */
  #id = 0;

  constructor(proxy: ProxyState<Context>, exchange: Exchange<Context>) {
    this.#proxy = proxy;
    this.#exchange = exchange;
    this.startedAtMs = proxy.clock.nowMs();
    this.startedWallMs = proxy.clock.wallMs();
  }

  retryScheduled(attempt: AttemptRecord, delayMs: number): void {
    const { diagnostics, events, hooks } = this.#proxy;
    const { attemptNumber } = this.#exchange;
    if (events?.active === true) tellRetry(events, this.#origin(), attempt, attemptNumber, delayMs);
    if (diagnostics === undefined) return;
    if (this.#wordOf('suppressRetryLog', () => hooks.suppressRetryLog?.(this.#exchange)) === true) return;
    const what = attempt.detail ?? `answered ${attempt.status}`;
    diagnostics(
      'warn',
      `attempt ${attemptNumber} at ${attempt.endpoint} failed: ${what}; retry=true wait=${Math.round(delayMs)}ms, ${this.#summary()}`,
    );
  }

  /** The last word, once a request. */
  ended(totals: ExchangeTotals): void {
    this.#logError(totals.status);
    this.#writeRecord(totals);
  }

  #logError(status: number): void {
    const { diagnostics, hooks } = this.#proxy;
    const { failure } = this;
    const what = this.error ?? (failure === undefined ? undefined : describeFailure(failure));
    if (diagnostics === undefined || what === undefined) return;
    if (
      failure !== undefined &&
      this.#wordOf('suppressErrorLog', () => hooks.suppressErrorLog?.(this.#exchange, failure)) === true
    )
      return;
    const reason = this.run?.reason ?? 'none';
    const facts = `status=${status} attempts=${this.#exchange.attemptNumber} retry=false reason=${reason}`;
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

  #writeRecord(totals: ExchangeTotals): void {
    const { onRecord, events, hooks } = this.#proxy;
    const { trace } = this;
    const { log } = hooks;
    const isTold = events?.active === true;
    if (log === undefined && onRecord === undefined && trace === undefined && !isTold) return;
    const record = this.#record(totals);
    trace?.ended(record, this.failure?.kind);
    if (isTold) tellEnd(events, this.#origin(), record);
    onRecord?.(record);
    if (log === undefined) return;
    try {
      const logged = log.call(hooks, this.#exchange, record);
      if (isPromise(logged)) logged.catch((error: unknown) => this.#proxy.hookFault('log', error));
    } catch (error) {
      this.#proxy.hookFault('log', error);
    }
  }

  #summary(): string {
    const { request } = this.#exchange;
    const own = this.#wordOf('requestSummary', () => this.#proxy.hooks.requestSummary?.(this.#exchange));
    return own ?? `${request.method} ${pathWithoutQuery(request.path)}, host ${request.host}`;
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
      truncated: this.truncated,
      bytesIn,
      bytesOut,
      extraFlag: this.flag,
      failure: this.failure,
      error: this.error,
      replayLost,
    });
  }
}
