import { errors } from 'undici';
import type { StopReason } from '../../core/decision.ts';
import type { Failure } from '../../core/failure.ts';
import { deadlineAt } from '../../core/deadline.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import type { Endpoint } from '../../engine/endpoint.ts';
import type { RequestRun } from '../../engine/request-run.ts';
import type { DecisionOverride, RunHost, Selection } from '../../engine/run-host.ts';
import { localFailure } from '../../engine/failures.ts';
import { runRequest } from '../../engine/run-request.ts';
import type { FieldList, ResponseHead } from '../../http1/message.ts';
import { rememberReport, ReportingContext } from '../attempts.ts';
import type { RequestReport } from '../attempts.ts';
import { classifyEnds } from '../call/classify-ends.ts';
import { originalError } from '../call/original-error.ts';
import { DispatchController } from '../dispatch-controller.ts';
import type { RequestHandler } from '../dispatch-handler.ts';
import { RequestFailedError } from '../errors.ts';
import type { Layer } from '../layer-options.ts';
import { NEVER_RULES } from '../options.ts';
import { RunReport } from '../run-report.ts';
import { TrackedRequest, withPeerAdvice } from '../tracked-request.ts';
import type { DispatchHead } from './dispatch-head.ts';
import type { DispatchAttemptRequest, DispatchSender } from './dispatch-transport.ts';
import { HeldResponse } from './held-response.ts';
import type { InnerHandler } from './inner-handler.ts';
import type { InterceptedRequest } from './intercepted-request.ts';

/** One request through the interceptor: between its handler, which sees one response, and the loop. */
export class DispatchCall implements RunHost, DispatchSender {
  /** What the first dispatch answered: `false` asks the caller to wait for `drain`. */
  accepted = true;

  readonly #request: InterceptedRequest;
  readonly #handler: RequestHandler;
  readonly #layer: Layer;
  readonly #selection: Selection;
  readonly #controller: DispatchController;
  readonly #response: HeldResponse;
  /** What `undici.request` gives as `context`: the report hangs on it. */
  readonly #report: RunReport = new RunReport();
  readonly #context: CallContext = new CallContext(this.#report);
  #run: RequestRun | undefined;
  #tracked: TrackedRequest | undefined;
  #attemptNumber = 0;
  #isOver = false;

  constructor(request: InterceptedRequest, handler: RequestHandler, layer: Layer) {
    this.#request = request;
    this.#handler = handler;
    this.#layer = layer;
    this.#selection = { upstream: layer.origins.of(request.url.origin) };
    this.#controller = new DispatchController({
      abort: (reason) => this.#abort(reason),
      resume: () => this.#response.resume(),
    });
    this.#response = new HeldResponse(this.#controller, handler, {
      more: () => this.#run?.resume(),
      finished: () => this.#close(undefined),
      failed: (error) => this.#abort(error as Error),
    });
  }

  begin(): void {
    // At once, and not when a connection is ready: whoever aborts while it connects or waits is heard.
    try {
      this.#handler.onRequestStart?.(this.#controller, this.#context);
    } catch (error) {
      return this.onError(error);
    }
    if (this.#isOver) return;
    const layer = this.#layer;
    const { clock, random } = layer.host;
    const { keyed, repeatable, lineage, body, url, method } = this.#request;
    const { policy, classify } = layer.rules.isInScope?.(url) === false ? NEVER_RULES : layer.rules;
    const tracked = TrackedRequest.begin(method, () => url.href, keyed, policy);
    this.#tracked = tracked;
    const deadlineAtMs = deadlineAt(layer.timeout.requestMs, clock.nowMs());
    const facts = { method, keyed, repeatable, lineage, deadlineAtMs };
    runRequest(
      {
        facts: tracked?.facts(facts) ?? facts,
        policy: tracked?.policy(policy) ?? policy,
        timeouts: layer.timeout,
        body: body.capture,
        hedge: layer.hedge,
        classify: classify === undefined ? undefined : classifyEnds(classify, method, url),
        readAnswer: tracked?.answered ?? withPeerAdvice,
        host: this,
        clock,
        random,
      },
      (run) => {
        this.#run = run;
        this.#report.begin(run);
      },
    );
  }

  // --- DispatchSender ----------------------------------------------------------------------------------------------

  dispatch(fields: FieldList, handler: InnerHandler): void {
    this.#attemptNumber += 1;
    const send = (): boolean => this.#request.dispatch(fields, handler);
    const accepted = this.#tracked === undefined ? send() : this.#tracked.sending(send);
    if (this.#attemptNumber === 1) this.accepted = accepted;
  }

  get bodyFailed(): boolean {
    return this.#request.body.capture?.failed === true;
  }

  started(context: unknown): void {
    if (typeof context === 'object' && context !== null) Object.assign(this.#context, context);
  }

  bodySent(chunk: unknown): void {
    this.#handler.onBodySent?.(chunk as Buffer);
  }

  requestSent(): void {
    this.#handler.onRequestSent?.();
  }

  responseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  // --- RunHost -----------------------------------------------------------------------------------------------------

  select(): Selection {
    return this.#selection;
  }

  hashKey(): string {
    return '';
  }

  buildRequest(_endpoint: Endpoint): DispatchAttemptRequest {
    const { method, url } = this.#request;
    const fields = this.#tracked?.fields([], this.#layer.host.clock.nowMs()) ?? [];
    return { method, target: url.pathname, fields, body: undefined, expectContinueMs: 0, sender: this };
  }

  onConnected(): void {}

  reviewFailure(failure: Failure): DecisionOverride | undefined {
    this.#tracked?.failed(failure);
    return undefined;
  }

  onRetry(attempt: AttemptRecord, delayMs: number): void {
    this.#tracked?.retried();
    this.#layer.onRetry?.(attempt, delayMs);
  }

  onInformational(head: ResponseHead): void {
    this.#head(head as DispatchHead);
  }

  onResponse(head: ResponseHead): void {
    this.#tracked?.ended(this.#run, this.#layer.host.clock.nowMs(), head);
    this.#head(head as DispatchHead);
  }

  onData(chunk: Buffer): boolean {
    return this.#response.data(chunk);
  }

  onComplete(trailers: FieldList): void {
    this.#response.end(trailers);
  }

  onFailed(failure: Failure, reason: StopReason): void {
    if (failure.kind === 'deadline_exceeded') this.#tracked?.failed(failure);
    const original = originalError(failure);
    const { attempts } = this.#run!;
    this.#fail(original === undefined ? new RequestFailedError(failure, reason, attempts) : original.error);
  }

  onTruncated(failure: Failure): void {
    this.#tracked?.broke(failure, this.#layer.host.clock.nowMs());
    this.onFailed(failure, 'committed');
  }

  onError(error: unknown): void {
    this.#fail(error);
  }

  onRefused(reason: StopReason): void {
    this.onFailed(localFailure('circuit_open', `${this.#selection.upstream.name}: a retry was refused`), reason);
  }

  // -----------------------------------------------------------------------------------------------------------------

  #head(head: DispatchHead): void {
    if (head.raw === undefined) this.#controller.fields = head.fields;
    this.#controller.raw = head.raw;
    this.#handler.onResponseStart?.(this.#controller, head.status, head.headers, head.reason);
  }

  #abort(reason: Error | undefined): void {
    if (this.#isOver) return;
    const error = reason ?? new errors.RequestAbortedError();
    this.#controller.aborted = true;
    this.#controller.reason = error;
    this.#run?.cancel();
    this.#fail(error);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#close(error);
    this.#response.discard();
    this.#handler.onResponseError(this.#controller, error as Error);
  }

  #close(error: unknown): void {
    this.#isOver = true;
    this.#controller.release();
    this.#request.body.capture?.release(error !== undefined);
    this.#tracked?.ended(this.#run, this.#layer.host.clock.nowMs());
    if (error instanceof Error) this.#tracked?.caused(error);
    this.#report.end();
    if (typeof error === 'object' && error !== null) rememberReport(error, this.#report);
  }
}

/** With what the dispatcher below says of itself. Its report is no property of its own, which a layer above would copy. */
class CallContext extends ReportingContext {
  readonly #report: RunReport;

  constructor(report: RunReport) {
    super();
    this.#report = report;
  }

  toReport(): RequestReport {
    return this.#report;
  }
}
