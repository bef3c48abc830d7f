import type { Decision, StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import { isPromise } from '../engine/ask.ts';
import type { DecisionOverride, MaybePromise, RunHost, Selection } from '../engine/run-host.ts';
import { fieldValue } from '../http1/field-list.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { AttemptRequest, ConnectionInfo } from '../transport/transport.ts';
import type { TunnelEnd } from '../transport/tunnel-end.ts';
import type { Downstream } from './downstream.ts';
import type { ErrorResponse } from './error-response.ts';
import { errorResponse, refusedResponse } from './error-response.ts';
import type { ProxyExchange } from './exchange.ts';
import type { ExchangeReport } from './exchange-report.ts';
import { downstreamResponseFields } from './headers.ts';
import type { MutableResponse, ProxyHooks } from './phases.ts';
import type { ProxyState } from './proxy-state.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** What the engine asks and tells while it runs one request: hooks are called here, answers go to the exchange. */
export class ExchangeHost<Context> implements RunHost {
  readonly #exchange: ProxyExchange<Context>;
  readonly #proxy: ProxyState<Context>;
  readonly #hooks: ProxyHooks<Context>;
  readonly #downstream: Downstream;
  readonly #upstream: UpstreamRequest<Context>;
  readonly #report: ExchangeReport<Context>;

  constructor(
    exchange: ProxyExchange<Context>,
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
    const choice = hook.call(this.#hooks, this.#exchange);
    if (isPromise(choice)) return choice.then((value) => this.#proxy.resolveChoice(value));
    return this.#proxy.resolveChoice(choice);
  }

  hashKey(header: string | undefined): string {
    const { fields, remoteAddress } = this.#exchange.request;
    return (header === undefined ? undefined : fieldValue(fields as FieldList, header)) || remoteAddress;
  }

  buildRequest(endpoint: Endpoint, attemptNumber: number): MaybePromise<AttemptRequest> {
    return this.#upstream.build(endpoint, attemptNumber);
  }

  onConnected(info: ConnectionInfo): MaybePromise<void> {
    return this.#hooks.connected?.(this.#exchange, info);
  }

  reviewFailure(failure: Failure, decision: Decision): MaybePromise<DecisionOverride | undefined> {
    const { failToConnect, errorWhileProxy } = this.#hooks;
    const hook = isBeforeConnection(failure) ? failToConnect : errorWhileProxy;
    return hook?.call(this.#hooks, this.#exchange, failure, decision) as MaybePromise<DecisionOverride | undefined>;
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
    if (hook === undefined) return exchange.sendHead(head.status, head.reason, fields, head);
    const response: MutableResponse = { status: head.status, reason: head.reason, fields };
    const changed = hook.call(this.#hooks, exchange, response);
    const send = (): void => exchange.sendHead(response.status, response.reason, response.fields, head);
    return isPromise(changed) ? changed.then(send) : send();
  }

  onTunnel(head: ResponseHead, tunnel: TunnelEnd): MaybePromise<void> {
    const exchange = this.#exchange;
    const fields = downstreamResponseFields(head);
    const status = head.status === 101 ? 101 : 200;
    if (status === 101) fields.push('Upgrade', fieldValue(head.fields, 'upgrade') ?? '');
    const hook = this.#hooks.responseFilter;
    if (hook === undefined) return exchange.openTunnel(status, head.reason, fields, tunnel);
    const response: MutableResponse = { status, reason: head.reason, fields };
    const changed = hook.call(this.#hooks, exchange, response);
    const open = (): void => {
      if (response.status !== status) throw new RangeError('responseFilter cannot change the status of a tunnel');
      exchange.openTunnel(status, response.reason, response.fields, tunnel);
    };
    return isPromise(changed) ? changed.then(open) : open();
  }

  onData(chunk: Buffer): boolean {
    return this.#exchange.data(chunk);
  }

  onComplete(trailers: FieldList): void {
    this.#exchange.complete(trailers);
  }

  onFailed(failure: Failure, reason: StopReason): void {
    const exchange = this.#exchange;
    this.#report.failure = failure;
    if (failure.source === 'downstream' && failure.kind === 'downstream_closed') return exchange.gone();
    const answer = errorResponse(failure, reason, this.#report.run?.retryAfterMs);
    if (answer === undefined) return exchange.finish();
    const hook = this.#hooks.failToProxy;
    if (hook === undefined) return exchange.answerError(answer);
    let changed: MaybePromise<ErrorResponse | void>;
    try {
      changed = hook.call(this.#hooks, exchange, failure, answer);
    } catch (error) {
      return exchange.thrown(error);
    }
    if (!isPromise(changed)) return exchange.answerError(changed ?? answer);
    changed.then(
      (value) => exchange.answerError(value ?? answer),
      (error: unknown) => exchange.thrown(error),
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
