import { explain } from '../../core/explain.ts';
import { ask } from '../../engine/ask.ts';
import type { MaybePromise } from '../../engine/run-host.ts';
import { runRequest } from '../../engine/run-request.ts';
import type { FieldList, ResponseHead } from '../../http1/message.ts';
import type { Clock } from '../../transport/clock.ts';
import type { TunnelEnd } from '../../transport/tunnel-end.ts';
import { arrivalOf } from './arrival.ts';
import type { ClientSide } from './client-side.ts';
import type { Downstream, DownstreamListener } from '../downstream.ts';
import type { ErrorResponse } from '../error-response.ts';
import { localResponse } from '../error-response.ts';
import { ExchangeAnswer } from './exchange-answer.ts';
import { ExchangeHost } from './exchange-host.ts';
import { ExchangeReport } from './exchange-report.ts';
import { callHook } from './hook-call.ts';
import { thrownFailure, thrownResponse } from './hook-error.ts';
import type { HookName, LocalAnswer, MutableResponse, ProxyHooks, ProxyRequest } from '../phases.ts';
import type { ExchangePlan } from '../plan.ts';
import { readProxyRequest } from '../proxy-request.ts';
import type { ProxyState } from '../proxy-state.ts';
import { arrivedRequest } from '../request-trace.ts';
import { UpstreamRequest } from './upstream-request.ts';

/**
 * One request from its head to its record, as its client sees it. Whatever happens on either side comes through here, and
 * `finish` is reached exactly once.
 */
export class ProxyExchange<Context> implements ClientSide<Context>, DownstreamListener {
  readonly clock: Clock;
  readonly request: ProxyRequest;
  context!: Context;
  plan: ExchangePlan;
  ended = false;

  readonly #proxy: ProxyState<Context>;
  readonly #hooks: ProxyHooks<Context>;
  readonly #downstream: Downstream;
  readonly #upstream: UpstreamRequest<Context>;
  readonly #answer: ExchangeAnswer;
  readonly #report: ExchangeReport<Context>;
  /** Undefined while no upstream is asked. */
  #host: ExchangeHost<Context> | undefined;

  constructor(proxy: ProxyState<Context>, downstream: Downstream, listener: string | undefined) {
    this.#proxy = proxy;
    this.clock = proxy.clock;
    this.#hooks = proxy.hooks;
    this.#downstream = downstream;
    this.#answer = new ExchangeAnswer(downstream);
    this.#report = new ExchangeReport(proxy, this, downstream);
    this.#upstream = new UpstreamRequest(proxy, this, downstream, this.#report);
    this.plan = proxy.plan;
    this.request = readProxyRequest(downstream, listener, proxy.trustsPeer(downstream));
    if (proxy.tracing?.active === true)
      this.#report.trace = proxy.tracing.begin(arrivedRequest(downstream, this.#report.startedWallMs));
    downstream.listener = this;
  }

  get attemptNumber(): number {
    return this.#report.run?.attempts.length ?? 0;
  }

  get answered(): boolean {
    return this.ended || this.#answer.headSent;
  }

  /** Milliseconds that the request has left. */
  limitMs(): number {
    return Math.max(0, this.#upstream.facts().deadlineAtMs - this.clock.nowMs());
  }

  start(): void {
    this.#withContext(() => this.#arrived());
  }

  #withContext(then: () => void): void {
    const hook = this.#hooks.createContext;
    if (hook === undefined) return then();
    this.#ask(
      'createContext',
      () => hook.call(this.#hooks, this.request),
      (context) => {
        this.context = context;
        if (!this.ended) then();
      },
    );
  }

  /** Asks user code before anything is sent: the request's deadline holds for it too. */
  #ask<T>(hook: HookName, call: () => MaybePromise<T>, then: (answer: T) => void): void {
    ask(
      () => callHook(hook, call, this),
      then,
      (error) => this.thrown(error),
    );
  }

  #arrived(): void {
    const arrival = arrivalOf(this.request, this.#proxy.pseudonym);
    if (arrival?.type === 'answered') return this.#filtered(arrival.answer);
    if (arrival !== undefined) {
      this.#report.fault = arrival.fault;
      return this.answerError(arrival.answer);
    }
    const hook = this.#hooks.requestFilter;
    if (hook === undefined) return this.#forward();
    this.#ask(
      'requestFilter',
      () => hook.call(this.#hooks, this),
      (answer) => this.#filtered(answer),
    );
  }

  /** A request that the listener refused before it was whole: answered, recorded, never forwarded. */
  refuse(status: number, detail: string): void {
    this.#report.flag = 'DPE';
    this.#withContext(() => this.#refuse(status, detail));
  }

  #refuse(status: number, detail: string): void {
    this.#report.refusal = detail;
    this.answerError(localResponse(status, detail));
  }

  #filtered(answer: LocalAnswer | void): void {
    if (this.ended) return;
    if (answer === undefined) return this.#forward();
    this.#report.flag = answer.flag;
    this.#leaveUnreadBody();
    try {
      this.#answer.local({ ...answer, fields: this.#report.told(answer.status, [...(answer.fields ?? [])]) });
    } catch (error) {
      return this.thrown(error);
    }
    this.finish();
  }

  #forward(): void {
    if (this.request.method === 'CONNECT' && !this.#upstream.isTunnel) {
      return this.#refuse(405, 'No tunnel is opened here.');
    }
    this.#upstream.openBody();
    this.#host = new ExchangeHost(this, this.#proxy, this.#downstream, this.#upstream, this.#report);
    runRequest(this.#upstream.runOptions(this.#host), (run) => {
      this.#report.run = run;
    });
  }

  // --- DownstreamListener ------------------------------------------------------------------------------------------

  gone(): void {
    if (this.ended) return;
    this.#report.flag = 'DC';
    this.#report.run?.cancel();
    if (!this.#answer.headSent) this.#answer.status = 499;
    else this.#report.truncated = true;
    this.finish();
  }

  cut(): void {
    if (this.ended) return;
    this.#report.fault = explain('proxy_internal_error', 'the process ended before the request did');
    this.#report.run?.cancel();
    if (!this.#answer.headSent) return this.answerError(localResponse(503, 'This gateway is shutting down.'));
    this.truncate();
  }

  drained(): void {
    this.#host?.drained();
  }

  // --- answers -----------------------------------------------------------------------------------------------------

  answerError(answer: ErrorResponse): void {
    if (this.ended) return;
    this.#leaveUnreadBody();
    const story = { reason: this.#report.run?.reason, attempts: this.attemptNumber };
    try {
      this.#answer.error({ ...answer, fields: this.#report.told(answer.status, answer.fields) }, story);
    } catch (error) {
      // A hook put into the answer what cannot be written: nothing was sent yet, and this one is ours alone.
      this.#report.fault ??= thrownFailure(error);
      this.#answer.error(localResponse(500, 'The answer could not be written.'), story);
    }
    this.finish();
  }

  thrown(error: unknown): void {
    if (this.ended) return;
    this.#report.fault = thrownFailure(error);
    this.#report.run?.cancel();
    if (this.#answer.headSent) return this.truncate();
    const answer = thrownResponse(error);
    if (answer !== undefined) return this.answerError(answer);
    // It says that the client is gone. Should it be there all the same, it must not wait for an answer.
    this.gone();
    this.#downstream.abort();
  }

  sendHead({ status, reason, fields }: MutableResponse, head: ResponseHead, isFiltered: boolean): void {
    if (this.ended) return;
    this.#upstream.body?.commit();
    this.#leaveUnreadBody();
    this.#answer.head(status, reason, this.#report.told(status, fields, head), head, isFiltered);
  }

  openTunnel(status: 101 | 200, reason: string, fields: FieldList, upstream: TunnelEnd): void {
    if (!this.ended) this.#answer.tunnel(status, reason, fields, upstream);
  }

  #leaveUnreadBody(): void {
    if (this.#upstream.isUnread) this.#downstream.closeAfterResponse();
  }

  truncate(): void {
    if (this.ended) return;
    this.#report.truncated = true;
    this.#downstream.abort();
    this.finish();
  }

  data(chunk: Buffer): boolean {
    return this.ended || this.#answer.data(chunk);
  }

  complete(trailers: FieldList): void {
    if (this.ended) return;
    this.#downstream.end(trailers);
    this.finish();
  }

  finish(): void {
    if (this.ended) return;
    this.ended = true;
    const { body, replayLost } = this.#upstream;
    const { status, bytesOut, tunnelBytesIn } = this.#answer;
    body?.destroy();
    this.#report.ended({ status, bytesIn: tunnelBytesIn + (body?.bytesReceived ?? 0), bytesOut, replayLost });
    this.#proxy.exchangeEnded();
  }
}
