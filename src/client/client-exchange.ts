import { errors } from 'undici';
import type { StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import { localFailure } from '../engine/failures.ts';
import type { RequestRun } from '../engine/request-run.ts';
import type { RunHost, Selection } from '../engine/run-host.ts';
import { runRequest } from '../engine/run-request.ts';
import { hasField } from '../http1/field-list.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { RequestBody } from '../transport/request-body.ts';
import type { AttemptRequest } from '../transport/transport.ts';
import { rememberReport } from './attempts.ts';
import type { CallBody } from './call-body.ts';
import { readBody } from './call-body.ts';
import type { CallRules } from './call-rules.ts';
import { idempotencyKeyFor } from './call-rules.ts';
import type { ClientState, RunningRequest } from './client-state.ts';
import { DispatchController } from './dispatch-controller.ts';
import type { ControlledRequest } from './dispatch-controller.ts';
import type { RequestHandler } from './dispatch-handler.ts';
import type { DispatchOptions, DispatchRequest } from './dispatch-request.ts';
import { RequestFailedError } from './errors.ts';
import type { Destination } from './origin-book.ts';
import { ResponseDelivery } from './response-delivery.ts';
import { hedgePolicyFor, retryRulesFor, rulingBy, timeoutsFor } from './run-plan.ts';
import { RunReport } from './run-report.ts';
import { watchedBody } from './watched-body.ts';

/** Milliseconds the body is held back for a 100 before it is sent all the same (RFC 9110 §10.1.1). */
const EXPECT_CONTINUE_MS = 1_000;

/** What is to be done for one request. */
export interface RequestPlan {
  readonly options: DispatchOptions;
  /** Read from the options. */
  readonly request: DispatchRequest;
  readonly rules: CallRules;
  readonly destination: Destination;
  readonly deadlineAtMs: number;
}

/** One request of a client from its dispatch to the last word to its handler: the host of the engine's run. */
export class ClientExchange implements RunHost, ControlledRequest, RunningRequest {
  readonly report: RunReport = new RunReport();
  readonly #client: ClientState;
  readonly #handler: RequestHandler;
  readonly #plan: RequestPlan;
  readonly #controller: DispatchController;
  readonly #delivery: ResponseDelivery;
  readonly #beganAtMs: number;
  #fields: FieldList;
  #body: RequestBody | undefined;
  #callBody: CallBody | undefined;
  #run: RequestRun | undefined;
  #firstSentAtMs = 0;
  #status: number | undefined;
  /** Why the response ended early, while its handler is not ready to be told. */
  #broken: Error | undefined;
  /** The handler got its last word. */
  #settled = false;

  constructor(client: ClientState, handler: RequestHandler, plan: RequestPlan) {
    this.#client = client;
    this.#handler = handler;
    this.#plan = plan;
    this.#fields = plan.request.fields;
    this.#beganAtMs = client.clock.nowMs();
    this.#controller = new DispatchController(this);
    this.#delivery = new ResponseDelivery(handler, this.#controller, this.#threw);
  }

  /** A handler's own fault ends its request. */
  readonly #threw = (error: unknown): void => this.abort(error as Error);

  get origin(): URL {
    return this.#plan.destination.origin.url;
  }

  get uri(): string {
    const { target } = this.#plan.request;
    return target.startsWith('/') ? `${this.#plan.destination.origin.key}${target}` : target;
  }

  /** @throws what is wrong with the request; the handler was told nothing then */
  start(): void {
    const { rules, request, options } = this.#plan;
    const { method, contentLength } = request;
    const { replayBufferBytes: capBytes, replayMemory: memory } = this.#client;
    const failed = (error: unknown): void => this.#end(error as Error);
    const body = readBody(options.body, { method, contentLength, capBytes, memory, failed });
    const key = hasField(request.fields, 'idempotency-key')
      ? undefined
      : idempotencyKeyFor(method, rules.idempotencyKey);
    if (key !== undefined) this.#fields = [...this.#fields, 'Idempotency-Key', key];
    rememberReport(this.report, this.report);
    this.#client.began(this);
    try {
      this.#handler.onRequestStart?.(this.#controller, this.report);
    } catch (error) {
      this.#end(error as Error);
    }
    if (!(body instanceof Promise)) return this.#begin(body);
    body.then(
      (read) => this.#begin(read),
      (error: unknown) => this.#end(error as Error),
    );
  }

  #begin(callBody: CallBody): void {
    this.#callBody = callBody;
    if (this.#settled) return callBody.stop();
    const { contentType, body } = callBody;
    if (contentType !== undefined && !hasField(this.#fields, 'content-type'))
      this.#fields = [...this.#fields, 'Content-Type', contentType];
    this.#body = body === undefined ? undefined : watchedBody(body, this.#handler, this.#threw);
    const { clock, random } = this.#client;
    const { rules, options, destination, deadlineAtMs } = this.#plan;
    const { method } = this.#plan.request;
    const { policy, classify } = retryRulesFor(rules, this.uri);
    const keyed = hasField(this.#fields, 'idempotency-key');
    const run = {
      facts: { method, keyed, repeatable: options.idempotent, lineage: 0, deadlineAtMs },
      policy,
      timeouts: timeoutsFor(rules, options),
      body: this.#body,
      hedge: hedgePolicyFor(rules, destination),
      classify: rulingBy(classify, method, this.uri),
      host: this,
      clock,
      random,
    };
    runRequest(run, (begun) => {
      this.#run = begun;
      this.report.begin(begun);
    });
  }

  // --- RunHost -----------------------------------------------------------------------------------------------------

  select(): Selection {
    return this.#plan.destination;
  }

  hashKey(): string {
    return '';
  }

  buildRequest(endpoint: Endpoint): AttemptRequest {
    const { method, target, host, expectsContinue } = this.#plan.request;
    const body = this.#body;
    const expects = expectsContinue && body !== undefined;
    const fields = ['Host', host ?? endpoint.authority, ...this.#fields];
    if (expects) fields.push('Expect', '100-continue');
    this.#firstSentAtMs ||= this.#client.clock.nowMs();
    return { method, target, fields, body, expectContinueMs: expects ? EXPECT_CONTINUE_MS : 0 };
  }

  onConnected(): void {}

  reviewFailure(): undefined {}

  onRetry(): void {}

  onInformational(head: ResponseHead): void {
    // Nobody asked for a 100 whom the transport does not answer.
    if (head.status !== 100 && !this.#settled) this.#delivery.head(head);
  }

  onResponse(head: ResponseHead): void {
    this.#body?.commit();
    if (this.#plan.rules.hedge?.percentile !== undefined)
      this.#plan.destination.latency.add(this.#client.clock.nowMs() - this.#firstSentAtMs);
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
    this.#broken = this.#errorOf(failure, 'committed');
    if (this.#delivery.end({ error: this.#broken })) this.#settle(this.#broken);
  }

  onFailed(failure: Failure, reason: StopReason): void {
    this.#end(this.#errorOf(failure, reason));
  }

  /** A classifier threw. */
  onError(error: unknown): void {
    this.#end(error as Error);
  }

  /** Never asked for: a client's budgets and permits leave the original outcome. */
  onRefused(reason: StopReason): void {
    this.onFailed(
      localFailure('circuit_open', `${this.#plan.destination.origin.key}: the attempt was refused`),
      reason,
    );
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

  #errorOf(failure: Failure, reason: StopReason): RequestFailedError {
    return new RequestFailedError(failure, reason, this.report.attempts);
  }

  /** Ends it with an error, whatever was under way. */
  #end(error: Error): void {
    if (this.#settled) return;
    this.#settle(error);
    this.#run?.cancel();
    this.#delivery.drop();
    this.#handler.onResponseError(this.#controller, error);
  }

  #settle(error: Error | undefined): void {
    this.#settled = true;
    this.#body?.destroy();
    this.#callBody?.stop();
    this.report.end();
    this.#client.ended(this);
    const { onRequestEnd, clock } = this.#client;
    if (onRequestEnd === undefined) return;
    const durationMs = Math.round((clock.nowMs() - this.#beganAtMs) * 100) / 100;
    const { method } = this.#plan.request;
    onRequestEnd({ method, uri: this.uri, status: this.#status, error, durationMs, report: this.report });
  }
}
