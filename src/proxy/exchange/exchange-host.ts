import type { Decision, StopReason } from '../../core/decision.ts';
import type { Failure } from '../../core/failure.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import type { Endpoint } from '../../engine/endpoint.ts';
import { FailureError } from '../../core/failure-error.ts';
import { ask, isPromise } from '../../engine/ask.ts';
import type { Upstream } from '../../engine/upstream.ts';
import type { DecisionOverride, MaybePromise, RunHost, Selection } from '../../engine/run-host.ts';
import { fieldValue } from '../../http1/field-list.ts';
import type { FieldList, ResponseHead } from '../../http1/message.ts';
import type { AttemptRequest, ConnectionInfo } from '../../transport/transport.ts';
import type { TunnelEnd } from '../../transport/tunnel-end.ts';
import { BodyFilter } from './body-filter.ts';
import type { ClientSide } from './client-side.ts';
import type { Downstream } from '../downstream.ts';
import { errorResponse, refusedResponse } from '../error-response.ts';
import type { ExchangeReport } from './exchange-report.ts';
import { downstreamResponseFields } from '../headers.ts';
import { withoutClaims } from '../namespace-fields.ts';
import { callHook } from './hook-call.ts';
import { thrownFailure } from './hook-error.ts';
import type { MutableResponse, ProxyHooks, UpstreamChoice } from '../phases.ts';
import type { ProxyState } from '../proxy-state.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** Milliseconds that `failToProxy` has at least: the deadline may be what failed. */
const FAIL_TO_PROXY_MS = 1_000;

/** What the engine asks and tells while it runs one request: hooks are called here, answers go to the exchange. */
export class ExchangeHost<Context> implements RunHost {
  readonly #exchange: ClientSide<Context>;
  readonly #proxy: ProxyState<Context>;
  readonly #hooks: ProxyHooks<Context>;
  readonly #downstream: Downstream;
  readonly #upstream: UpstreamRequest<Context>;
  readonly #report: ExchangeReport<Context>;
  /** By `connected`. */
  #thrown: unknown;
  /** Of the response that is delivered. */
  #filter: BodyFilter | undefined;

  constructor(
    exchange: ClientSide<Context>,
    proxy: ProxyState<Context>,
    downstream: Downstream,
    upstream: UpstreamRequest<Context>,
    report: ExchangeReport<Context>,
  ) {
    this.#exchange = exchange;
    this.#proxy = proxy;
    this.#hooks = proxy.hooks;
    this.#downstream = downstream;
    this.#upstream = upstream;
    this.#report = report;
  }

  select(): MaybePromise<Selection | undefined> {
    const hook = this.#hooks.selectUpstream;
    if (hook === undefined) {
      const { upstream } = this.#exchange.plan;
      return upstream === undefined ? undefined : { upstream };
    }
    const choice = callHook('selectUpstream', () => hook.call(this.#hooks, this.#exchange));
    const resolve = (value: UpstreamChoice | undefined): Selection | undefined =>
      checkedSelection(this.#proxy.resolveChoice(value));
    return isPromise(choice) ? choice.then(resolve) : resolve(choice);
  }

  hashKey(header: string | undefined): string {
    const { fields, remoteAddress } = this.#exchange.request;
    return (header === undefined ? undefined : fieldValue(fields, header)) || remoteAddress;
  }

  buildRequest(endpoint: Endpoint, attemptNumber: number): MaybePromise<AttemptRequest> {
    return this.#upstream.build(endpoint, attemptNumber);
  }

  onConnected(info: ConnectionInfo): MaybePromise<void> {
    const hook = this.#hooks.connected;
    if (hook === undefined) return;
    // The transport makes a failure of what is thrown here, and that has no place for the status that user code wants.
    const failed = (error: unknown): never => {
      this.#thrown = error;
      throw new FailureError(thrownFailure(error));
    };
    let answer: MaybePromise<void>;
    try {
      answer = callHook('connected', () => hook.call(this.#hooks, this.#exchange, info));
    } catch (error) {
      return failed(error);
    }
    return isPromise(answer) ? answer.catch(failed) : answer;
  }

  reviewFailure(failure: Failure, decision: Decision): MaybePromise<DecisionOverride | undefined> {
    this.#report.ownership?.failed(failure);
    // User code that failed ends its request; it is not asked whether to go on.
    if (failure.kind === 'hook_error') return { type: 'stop' };
    const name = isBeforeConnection(failure) ? 'failToConnect' : 'errorWhileProxy';
    const hook = this.#hooks[name];
    if (hook === undefined) return undefined;
    const answer = callHook(name, () => hook.call(this.#hooks, this.#exchange, failure, decision)) as MaybePromise<
      DecisionOverride | undefined
    >;
    return isPromise(answer) ? answer.then(checkedOverride) : checkedOverride(answer);
  }

  onRetry(attempt: AttemptRecord, delayMs: number): void {
    this.#report.retryScheduled(attempt, delayMs);
  }

  onInformational(head: ResponseHead): void {
    if (this.#exchange.answered || this.#exchange.request.protocol === '1.0') return;
    // A client that did not wait for it would take an unasked 100 for the answer of a later request.
    if (head.status === 100 && !this.#downstream.expectContinue) return;
    this.#downstream.informational(head.status, head.reason, downstreamResponseFields(head));
  }

  onResponse(head: ResponseHead): MaybePromise<void> {
    const exchange = this.#exchange;
    const fields = downstreamResponseFields(head);
    const hook = this.#hooks.responseFilter;
    const filterBody = this.#hooks.responseBodyFilter !== undefined;
    const response: MutableResponse = { status: head.status, reason: head.reason, fields, filterBody };
    if (hook === undefined) return this.#sendHead(response, head);
    const changed = callHook('responseFilter', () => hook.call(this.#hooks, exchange, response), exchange);
    const send = (): void => this.#sendHead(response, head);
    return isPromise(changed) ? changed.then(send) : send();
  }

  #sendHead(response: MutableResponse, head: ResponseHead): void {
    const hook = response.filterBody ? this.#hooks.responseBodyFilter : undefined;
    if (hook !== undefined && head.bodyKind !== 'none') this.#filter = this.#bodyFilter(hook.bind(this.#hooks));
    this.#exchange.sendHead(response, head, hook !== undefined);
  }

  #bodyFilter(hook: NonNullable<ProxyHooks<Context>['responseBodyFilter']>): BodyFilter {
    const exchange = this.#exchange;
    const { idleMs } = exchange.plan.timeouts;
    const limit = { clock: exchange.clock, limitMs: () => (idleMs === 0 ? Infinity : idleMs) };
    return new BodyFilter({
      ask: (chunk, end) => callHook('responseBodyFilter', () => hook(exchange, chunk, end), limit),
      write: (chunk) => exchange.data(chunk),
      ended: (trailers) => exchange.complete(trailers),
      resume: () => this.#report.run?.resume(),
      failed: (error) => exchange.thrown(error),
    });
  }

  onTunnel(head: ResponseHead, tunnel: TunnelEnd): MaybePromise<void> {
    const exchange = this.#exchange;
    const fields = downstreamResponseFields(head);
    const status = head.status === 101 ? 101 : 200;
    if (status === 101) fields.push('Upgrade', fieldValue(head.fields, 'upgrade') ?? '');
    const hook = this.#hooks.responseFilter;
    if (hook === undefined) return exchange.openTunnel(status, head.reason, fields, tunnel);
    const response: MutableResponse = { status, reason: head.reason, fields, filterBody: false };
    const changed = callHook('responseFilter', () => hook.call(this.#hooks, exchange, response), exchange);
    const open = (): void => {
      if (response.status !== status) throw new RangeError('responseFilter cannot change the status of a tunnel');
      exchange.openTunnel(status, response.reason, response.fields, tunnel);
    };
    return isPromise(changed) ? changed.then(open) : open();
  }

  onData(chunk: Buffer): boolean {
    return this.#filter === undefined ? this.#exchange.data(chunk) : this.#filter.data(chunk);
  }

  onComplete(trailers: FieldList): void {
    const passed = withoutClaims(trailers);
    if (this.#filter === undefined) this.#exchange.complete(passed);
    else this.#filter.complete(passed);
  }

  /** The client takes more. */
  drained(): void {
    if (this.#filter === undefined) this.#report.run?.resume();
    else this.#filter.drained();
  }

  onFailed(failure: Failure, reason: StopReason): void {
    const exchange = this.#exchange;
    if (this.#thrown !== undefined && failure.kind === 'hook_error') return exchange.thrown(this.#thrown);
    this.#report.failure = failure;
    if (failure.source === 'downstream' && failure.kind === 'downstream_closed') return exchange.gone();
    const answer = errorResponse(failure, reason, this.#report.run?.retryAfterMs);
    if (answer === undefined) return exchange.finish();
    const hook = this.#hooks.failToProxy;
    if (hook === undefined) return exchange.answerError(answer);
    const limit = { clock: exchange.clock, limitMs: () => Math.max(FAIL_TO_PROXY_MS, exchange.limitMs()) };
    ask(
      () => callHook('failToProxy', () => hook.call(this.#hooks, exchange, failure, answer), limit),
      (changed) => exchange.answerError(changed ?? answer),
      (error) => exchange.thrown(error),
    );
  }

  onRefused(reason: StopReason): void {
    if (reason === 'circuit-open') this.#report.flag = 'CB';
    this.#exchange.answerError(refusedResponse(reason, this.#report.run?.retryAfterMs));
  }

  onTruncated(failure: Failure): void {
    if (this.#exchange.ended) return;
    this.#report.failure = failure;
    this.#exchange.truncate();
  }

  onError(error: unknown): void {
    this.#exchange.thrown(error);
  }
}

function isBeforeConnection(failure: Failure): boolean {
  return failure.phase === 'select' || failure.phase === 'connect' || failure.phase === 'tls';
}

// Types do not hold user code in JavaScript; what is caught here ends its request, further in it would end the process.

function checkedSelection(selection: Selection | undefined): Selection | undefined {
  if (selection !== undefined && typeof (selection.upstream as Partial<Upstream> | undefined)?.admits !== 'function')
    throw new TypeError('selectUpstream: this is no upstream; give an address, several, or what createUpstream made');
  return selection;
}

function checkedOverride(override: DecisionOverride | undefined): DecisionOverride | undefined {
  const delayMs: unknown = override?.type === 'retry' ? override.delayMs : undefined;
  if (delayMs !== undefined && (typeof delayMs !== 'number' || Number.isNaN(delayMs)))
    throw new RangeError('delayMs is not a number; give milliseconds, or leave it out');
  return override;
}
