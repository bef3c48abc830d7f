import { isPromise } from '../engine/ask.ts';
import type { MaybePromise } from '../engine/run-host.ts';
import { runRequest } from '../engine/run-request.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { TunnelEnd } from '../transport/tunnel-end.ts';
import type { Downstream, DownstreamListener } from './downstream.ts';
import type { ErrorResponse } from './error-response.ts';
import { localResponse, loopResponse, thrownResponse } from './error-response.ts';
import { ExchangeAnswer } from './exchange-answer.ts';
import { ExchangeHost } from './exchange-host.ts';
import { ExchangeReport } from './exchange-report.ts';
import { forbiddenNomination, isLooping } from './headers.ts';
import { lastRecipient, maxForwards } from './max-forwards.ts';
import type { Exchange, LocalAnswer, ProxyHooks, ProxyRequest } from './phases.ts';
import type { ExchangePlan } from './plan.ts';
import { readProxyRequest } from './proxy-request.ts';
import type { ProxyState } from './proxy-state.ts';
import { arrivedRequest } from './request-trace.ts';
import { UpstreamRequest } from './upstream-request.ts';

/**
 * One request from its head to its record, as its client sees it. Whatever happens on either side comes through here, and
 * `finish` is reached exactly once.
 */
export class ProxyExchange<Context> implements Exchange<Context>, DownstreamListener {
  readonly request: ProxyRequest;
  context!: Context;
  plan: ExchangePlan;
  /** The client has its answer, or is gone, and the record is written. */
  ended = false;

  readonly #proxy: ProxyState<Context>;
  readonly #hooks: ProxyHooks<Context>;
  readonly #downstream: Downstream;
  readonly #upstream: UpstreamRequest<Context>;
  readonly #answer: ExchangeAnswer;
  readonly #report: ExchangeReport<Context>;

  constructor(proxy: ProxyState<Context>, downstream: Downstream, listener: string | undefined) {
    this.#proxy = proxy;
    this.#hooks = proxy.hooks;
    this.#downstream = downstream;
    this.#answer = new ExchangeAnswer(downstream);
    this.#report = new ExchangeReport(proxy, this);
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

  /** The client has a final head, or is gone. */
  get answered(): boolean {
    return this.ended || this.#answer.headSent;
  }

  start(): void {
    const nominated = forbiddenNomination(this.request.fields as FieldList);
    if (nominated !== undefined) {
      return this.answerError(localResponse(400, `Connection must not nominate the end-to-end field ${nominated}.`));
    }
    if (isLooping(this.request.fields as FieldList, this.#proxy.pseudonym)) {
      this.#report.error = 'loop: this proxy sent the request to itself; an upstream leads to one of its own listeners';
      return this.answerError(loopResponse());
    }
    const hops = maxForwards(this.request.method, this.request.fields as FieldList);
    if (hops === 0) return this.#filtered(lastRecipient(this.request.method));
    if (Number.isNaN(hops)) return this.answerError(localResponse(400, 'Max-Forwards must be one whole number.'));
    let answer: MaybePromise<LocalAnswer | void>;
    try {
      this.context = this.#hooks.createContext?.(this.request) as Context;
      answer = this.#hooks.requestFilter?.(this);
    } catch (error) {
      return this.thrown(error);
    }
    if (isPromise(answer)) {
      answer.then(
        (value) => this.#filtered(value),
        (error: unknown) => this.thrown(error),
      );
    } else this.#filtered(answer);
  }

  /** A request that the listener refused before it was whole: answered, recorded, never forwarded. */
  refuse(status: number, detail: string): void {
    this.#report.flag = 'DPE';
    this.answerError(localResponse(status, detail));
  }

  #filtered(answer: LocalAnswer | void): void {
    if (this.ended) return;
    if (answer === undefined) return this.#forward();
    this.#report.flag = answer.flag;
    this.#leaveUnreadBody();
    try {
      this.#answer.local(answer);
    } catch (error) {
      return this.thrown(error);
    }
    this.finish();
  }

  #forward(): void {
    const { plan } = this;
    if (this.request.method === 'CONNECT' && !this.#upstream.isTunnel) {
      return this.answerError(localResponse(405, 'No tunnel is opened here.'));
    }
    const { clock, random } = this.#proxy;
    this.#upstream.openBody();
    const options = {
      facts: this.#upstream.facts(),
      policy: plan.policy,
      timeouts: plan.timeouts,
      body: this.#upstream.body,
      operation: plan.routeName,
      // Of two tunnels one would be cut in the middle of its protocol.
      hedge: this.#upstream.isTunnel || this.#upstream.upgrade !== undefined ? undefined : plan.hedge,
      canMove: plan.fallback === undefined ? undefined : () => plan.fallback?.() !== undefined,
      host: new ExchangeHost(this, this.#proxy, this.#downstream, this.#upstream, this.#report),
      clock,
      random,
    };
    runRequest(options, (run) => {
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
    this.#report.error = 'cut: the process ended before the request did';
    this.#report.run?.cancel();
    if (!this.#answer.headSent) return this.answerError(localResponse(503, 'This gateway is shutting down.'));
    this.truncate();
  }

  drained(): void {
    this.#report.run?.resume();
  }

  // --- answers -----------------------------------------------------------------------------------------------------

  answerError(answer: ErrorResponse): void {
    if (this.ended) return;
    this.#leaveUnreadBody();
    const story = { reason: this.#report.run?.reason, attempts: this.attemptNumber };
    try {
      this.#answer.error(answer, story);
    } catch (error) {
      // A hook put into the answer what cannot be written: nothing was sent yet, and this one is ours alone.
      this.#report.error ??= String(error);
      this.#answer.error(thrownResponse(error), story);
    }
    this.finish();
  }

  /** User code threw. */
  thrown(error: unknown): void {
    if (this.ended) return;
    this.#report.error = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (!this.#answer.headSent) return this.answerError(thrownResponse(error));
    this.truncate();
  }

  sendHead(status: number, reason: string, fields: FieldList, head: ResponseHead): void {
    if (this.ended) return;
    this.#upstream.body?.commit();
    this.#leaveUnreadBody();
    this.#answer.head(status, reason, fields, head);
  }

  openTunnel(status: 101 | 200, reason: string, fields: FieldList, upstream: TunnelEnd): void {
    if (!this.ended) this.#answer.tunnel(status, reason, fields, upstream);
  }

  #leaveUnreadBody(): void {
    if (this.#upstream.isUnread) this.#downstream.closeAfterResponse();
  }

  /** An answer that began cannot be completed: the client must see that. */
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
