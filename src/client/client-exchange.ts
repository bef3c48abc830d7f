import { errors } from 'undici';
import type { StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import { localFailure } from '../engine/failures.ts';
import type { RequestRun } from '../engine/request-run.ts';
import type { MaybePromise, RunHost, Selection } from '../engine/run-host.ts';
import { runRequest } from '../engine/run-request.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { AttemptRequest } from '../transport/transport.ts';
import type { ClientState, RunningRequest } from './client-state.ts';
import { DispatchController } from './dispatch-controller.ts';
import type { ControlledRequest } from './dispatch-controller.ts';
import type { RequestHandler } from './dispatch-handler.ts';
import { RequestFailedError } from './errors.ts';
import type { Destination } from './origin-book.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import { RequestCookies, takingCookies } from './request-cookies.ts';
import { ResponseDelivery } from './response-delivery.ts';
import { hedgePolicyFor, retryRulesFor, rulingBy, timeoutsFor, uriOf } from './run-plan.ts';
import type { RequestPlan } from './run-plan.ts';
import { RunReport } from './run-report.ts';
import { TrackedRequest, withPeerAdvice } from './tracked-request.ts';

/** One request of a client from its dispatch to the last word to its handler: the host of the engine's run. */
export class ClientExchange implements RunHost, ControlledRequest, RunningRequest {
  readonly report: RunReport = new RunReport();
  liveIndex = -1;
  readonly #client: ClientState;
  readonly #handler: RequestHandler;
  readonly #plan: RequestPlan;
  readonly #outgoing: OutgoingRequest;
  readonly #controller: DispatchController;
  readonly #delivery: ResponseDelivery;
  readonly #beganAtMs: number;
  readonly #cookies: RequestCookies | undefined;
  #run: RequestRun | undefined;
  #tracked: TrackedRequest | undefined;
  #firstSentAtMs = 0;
  #status: number | undefined;
  /** Why the response ended early, while its handler is not ready to be told. */
  #broken: Error | undefined;
  /** The handler got its last word, or gets it now. */
  #settled = false;
  /** Everything is let go. */
  #isOver = false;

  constructor(client: ClientState, handler: RequestHandler, plan: RequestPlan) {
    this.#client = client;
    this.#handler = handler;
    this.#plan = plan;
    this.#beganAtMs = client.clock.nowMs();
    if (client.cookies !== undefined) this.#cookies = new RequestCookies(client.cookies, uriOf(plan));
    this.#outgoing = new OutgoingRequest(plan, client);
    this.#controller = new DispatchController(this);
    this.#delivery = new ResponseDelivery(handler, this.#controller, this);
  }

  get destination(): Destination {
    return this.#plan.destination;
  }

  /** A handler's own fault ends its request. */
  readonly #threw = (error: unknown): void => this.abort(error as Error);
  /** What is wrong with the caller's own body, or with its classifier. */
  readonly #failed = (error: unknown): void => this.#end(error as Error);

  /** @throws what is wrong with the request; the handler was told nothing then */
  start(): void {
    const preparing = this.#outgoing.prepare(this.#failed);
    this.#client.began(this);
    try {
      this.#handler.onRequestStart?.(this.#controller, this.report);
    } catch (error) {
      this.#threw(error);
    }
    if (preparing === undefined) this.#begin();
    else preparing.then(() => this.#begin()).catch(this.#failed);
  }

  #begin(): void {
    if (this.#settled) return this.#outgoing.stop();
    try {
      this.#send();
    } catch (error) {
      // The caller's own scope threw.
      this.#failed(error);
    }
  }

  #send(): void {
    this.#outgoing.watch(this.#handler, this.#threw);
    const { clock, random } = this.#client;
    const plan = this.#plan;
    const { method } = plan.request;
    const { policy, classify } = retryRulesFor(plan);
    const keyed = this.#outgoing.isKeyed;
    const facts = { method, keyed, repeatable: plan.options.idempotent, lineage: 0, deadlineAtMs: plan.deadlineAtMs };
    const tracked = TrackedRequest.begin(method, () => uriOf(plan), keyed, policy);
    this.#tracked = tracked;
    const options = {
      facts: tracked?.facts(facts) ?? facts,
      policy: tracked?.policy(policy) ?? policy,
      timeouts: timeoutsFor(plan),
      body: this.#outgoing.body,
      hedge: hedgePolicyFor(plan),
      classify: rulingBy(classify, plan),
      readAnswer: takingCookies(this.#cookies, tracked?.answered ?? withPeerAdvice),
      host: this,
      clock,
      random,
    };
    runRequest(options, (run) => {
      this.#run = run;
      this.report.begin(run);
    });
  }

  // --- RunHost -----------------------------------------------------------------------------------------------------

  select(): Selection {
    return this.#plan.destination;
  }

  hashKey(): string {
    return '';
  }

  buildRequest(endpoint: Endpoint): MaybePromise<AttemptRequest> {
    const nowMs = this.#client.clock.nowMs();
    this.#firstSentAtMs ||= nowMs;
    const attempt = this.#outgoing.attempt(endpoint);
    const told =
      this.#tracked === undefined ? attempt : { ...attempt, fields: this.#tracked.fields(attempt.fields, nowMs) };
    return this.#cookies === undefined ? told : this.#cookies.on(told);
  }

  onConnected(): void {}

  reviewFailure(failure: Failure): undefined {
    this.#tracked?.failed(failure);
  }

  onRetry(): void {
    this.#tracked?.retried();
  }

  onInformational(head: ResponseHead): void {
    // A 100 is the transport's own affair.
    if (head.status !== 100 && !this.#settled) this.#delivery.head(head);
  }

  /** Whoever gets it, the next hop of a redirect too, finds its cookies in the jar. */
  onResponse(head: ResponseHead): void | Promise<void> {
    const storing = this.#cookies?.storing;
    return storing === undefined ? this.#respond(head) : storing.then(() => this.#respond(head));
  }

  #respond(head: ResponseHead): void {
    if (this.#settled) return;
    const nowMs = this.#client.clock.nowMs();
    this.#outgoing.body?.commit();
    this.#tracked?.ended(this.#run, nowMs, head);
    const { rules, destination } = this.#plan;
    if (rules.hedge?.percentile !== undefined) destination.latency.add(nowMs - this.#firstSentAtMs);
    this.#status = head.status;
    this.#delivery.head(head);
  }

  onData(chunk: Buffer): boolean {
    return this.#settled || this.#delivery.data(chunk);
  }

  onComplete(trailers: FieldList): void {
    if (!this.#settled && this.#delivery.end({ trailers })) this.#settle(undefined);
  }

  onTruncated(failure: Failure): void {
    if (this.#settled) return;
    this.#broken = new RequestFailedError(failure, 'committed', this.report.attempts);
    this.#tracked?.broke(failure, this.#client.clock.nowMs());
    if (this.#delivery.end({ error: this.#broken })) this.#settle(this.#broken);
  }

  onFailed(failure: Failure, reason: StopReason): void {
    if (reason === 'deadline' && failure.kind === 'deadline_exceeded') this.#tracked?.failed(failure);
    this.#end(new RequestFailedError(failure, reason, this.report.attempts));
  }

  onError(error: unknown): void {
    this.#failed(error);
  }

  /** Never asked for: a client's budgets and permits leave the original outcome. */
  onRefused(reason: StopReason): void {
    this.onFailed(localFailure('circuit_open', `${this.destination.origin.key}: the attempt was refused`), reason);
  }

  // --- ControlledRequest -------------------------------------------------------------------------------------------

  resume(): void {
    if (this.#settled) return;
    if (this.#delivery.resume()) this.#settle(this.#broken);
    else if (!this.#controller.paused) this.#run?.resume();
  }

  abort(reason: Error | undefined): void {
    if (this.#settled) return;
    const error = reason ?? new errors.RequestAbortedError();
    this.#controller.aborted = true;
    this.#controller.reason = error;
    this.#end(error);
  }

  /** Ends it with an error, whatever was under way. */
  #end(error: Error): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#run?.cancel();
    this.#settle(error);
    this.#delivery.drop();
    this.#handler.onResponseError(this.#controller, error);
  }

  #settle(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settled = true;
    const nowMs = this.#client.clock.nowMs();
    this.#outgoing.stop();
    this.#tracked?.ended(this.#run, nowMs);
    if (error !== undefined) this.#tracked?.caused(error);
    this.report.end();
    this.#client.ended(this);
    this.#controller.release();
    const { onRequestEnd } = this.#client;
    if (onRequestEnd === undefined) return;
    const { method } = this.#plan.request;
    const durationMs = Math.round((nowMs - this.#beganAtMs) * 100) / 100;
    const end = { method, uri: uriOf(this.#plan), status: this.#status, error, durationMs, report: this.report };
    // Not in here: what it throws must not keep the handler from its last word.
    queueMicrotask(() => onRequestEnd(end));
  }
}
