import type { StopReason } from '../../core/decision.ts';
import { deadlineAt } from '../../core/deadline.ts';
import type { Failure } from '../../core/failure.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import type { ReplayState, RequestRun } from '../../engine/request-run.ts';
import type { DecisionOverride, RunHost, Selection } from '../../engine/run-host.ts';
import { localFailure } from '../../engine/failures.ts';
import { runRequest } from '../../engine/run-request.ts';
import type { ResponseHead } from '../../http1/message.ts';
import type { Endpoint } from '../../engine/endpoint.ts';
import { rememberReport } from '../attempts.ts';
import { RequestFailedError } from '../errors.ts';
import type { Layer } from '../layer-options.ts';
import { NEVER_RULES } from '../options.ts';
import { TrackedRequest, withPeerAdvice } from '../tracked-request.ts';
import type { Call, CallHead, CallRequest } from './call.ts';
import { classifyEnds } from './classify-ends.ts';
import { originalError } from './original-error.ts';

/** One logical call: what is called, and what may be done about it. */
export interface CallPlan<T> {
  readonly call: Call<T>;
  readonly layer: Layer;
  readonly method: string;
  readonly url: URL;
  /** What budget and circuits belong to. Default: the origin of `url`. */
  readonly name?: string | undefined;
  /** It carries an idempotency key. */
  readonly keyed: boolean;
  /** Retries that were made above, in the same process. Default 0. */
  readonly lineage?: number | undefined;
  /** What its sender says about doing it twice. */
  readonly repeatable?: boolean | undefined;
  /** What circuits are told apart by. Default: one for the origin. */
  readonly operation?: string | undefined;
  /** `undefined`: there is none, or it can be sent as often as needed. */
  readonly body?: ReplayState | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Runs it under the one retry loop.
 * @returns what the attempt whose answer counts gave
 * @throws what that attempt threw, as it was; the signal's reason when that ended it; RequestFailedError when no attempt was behind it
 */
export function runCall<T>(plan: CallPlan<T>): Promise<T> {
  const { signal } = plan;
  if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
  return new Promise<T>((resolve, reject) => {
    const host = new CallHost<T>(plan, resolve, reject);
    host.begin();
  });
}

class CallHost<T> implements RunHost {
  readonly #plan: CallPlan<T>;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  readonly #selection: Selection;
  #run: RequestRun | undefined;
  #tracked: TrackedRequest | undefined;
  #delivered: CallHead<T> | undefined;

  constructor(plan: CallPlan<T>, resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.#plan = plan;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#selection = { upstream: plan.layer.origins.of(plan.name ?? plan.url.origin) };
  }

  begin(): void {
    const { layer, method, url, keyed, repeatable, operation, body, signal } = this.#plan;
    const { clock, random } = layer.host;
    const { policy, classify } = layer.rules.isInScope?.(url) === false ? NEVER_RULES : layer.rules;
    const tracked = TrackedRequest.begin(method, () => url.href, keyed, policy);
    this.#tracked = tracked;
    const facts = {
      method,
      keyed,
      repeatable,
      lineage: this.#plan.lineage ?? 0,
      deadlineAtMs: deadlineAt(layer.timeout.requestMs, clock.nowMs()),
    };
    signal?.addEventListener('abort', this.#aborted);
    runRequest(
      {
        facts: tracked?.facts(facts) ?? facts,
        policy: tracked?.policy(policy) ?? policy,
        timeouts: layer.timeout,
        body,
        operation,
        hedge: layer.hedge,
        classify: classify === undefined ? undefined : classifyEnds(classify, method, url),
        readAnswer: tracked?.answered ?? withPeerAdvice,
        host: this,
        clock,
        random,
      },
      (run) => (this.#run = run),
    );
  }

  select(): Selection {
    return this.#selection;
  }

  hashKey(): string {
    return '';
  }

  buildRequest(_endpoint: Endpoint, number: number): CallRequest<T> {
    const { call, layer, method, url } = this.#plan;
    const fields = this.#tracked?.fields([], layer.host.clock.nowMs()) ?? [];
    const tracked = this.#tracked;
    const send = <R>(attempt: () => R): R => (tracked === undefined ? attempt() : tracked.sending(attempt));
    return { method, target: url.pathname, fields, body: undefined, expectContinueMs: 0, call, number, send };
  }

  onConnected(): void {}

  reviewFailure(failure: Failure): DecisionOverride | undefined {
    this.#tracked?.failed(failure);
    return undefined;
  }

  onRetry(attempt: AttemptRecord, delayMs: number): void {
    this.#tracked?.retried();
    this.#plan.layer.onRetry?.(attempt, delayMs);
  }

  onInformational(): void {}

  onResponse(head: ResponseHead): void {
    this.#delivered = head as CallHead<T>;
    this.#delivered.taken = true;
  }

  onData(): boolean {
    return true;
  }

  onComplete(): void {
    const { value } = this.#delivered!;
    this.#ended(value);
    this.#resolve(value);
  }

  onFailed(failure: Failure, reason: StopReason): void {
    if (failure.kind === 'deadline_exceeded') this.#tracked?.failed(failure);
    const original = originalError(failure);
    this.#fail(original === undefined ? this.#ownError(failure, reason) : original.error);
  }

  onTruncated(failure: Failure): void {
    this.onFailed(failure, 'committed');
  }

  onError(error: unknown): void {
    this.#fail(error);
  }

  onRefused(reason: StopReason): void {
    const failure = localFailure('circuit_open', `${this.#selection.upstream.name}: a retry was refused`);
    this.#fail(this.#ownError(failure, reason));
  }

  readonly #aborted = (): void => {
    this.#run?.cancel();
    this.#fail(this.#plan.signal!.reason);
  };

  #ownError(failure: Failure, reason: StopReason): RequestFailedError {
    return new RequestFailedError(failure, reason, this.#run?.attempts ?? []);
  }

  #fail(error: unknown): void {
    this.#ended(error);
    if (error instanceof Error) this.#tracked?.caused(error);
    this.#reject(error);
  }

  #ended(result: unknown): void {
    this.#plan.signal?.removeEventListener('abort', this.#aborted);
    const run = this.#run;
    this.#tracked?.ended(run, this.#plan.layer.host.clock.nowMs(), this.#delivered);
    if (run === undefined || ((typeof result !== 'object' || result === null) && typeof result !== 'function')) return;
    const { attempts, reason, retryCount, waitedMs, hedgeRefused } = run;
    rememberReport(result, { attempts, reason, retryCount, waitedMs, hedgeRefused });
  }
}
