import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import type { AttemptRequest } from '../../transport/transport.ts';
import { LayerHead } from '../layer-head.ts';

/** What a function that makes one attempt is told. */
export interface CallAttempt {
  /** 1 for the first. */
  readonly number: number;
  /** What is to be added to the request: `Request-Attempt`, where there is something to say. */
  readonly fields: FieldList;
  /** Aborts when nobody waits for this attempt any more. */
  readonly signal: AbortSignal;
}

/** What one attempt came to. */
export type CallOutcome<T> =
  | { readonly type: 'answered'; readonly answer: CallAnswer; readonly value: T }
  | { readonly type: 'failed'; readonly failure: Failure; readonly error: unknown };

/** What is known of the head of an answer. */
export interface CallAnswer {
  readonly status: number;
  readonly reason?: string | undefined;
  /** Its fields; read only where somebody asks for them, for most answers are successes. */
  readonly readFields?: (() => FieldList) | undefined;
}

/**
 * A request that someone else's function sends: a `fetch`, an axios adapter, a driver. It is asked for one attempt at a time
 * and must not send anything again on its own.
 */
export interface Call<T> {
  /** Sends once. What it throws is taken for a failure after which anything may have happened. */
  attempt(attempt: CallAttempt): Promise<CallOutcome<T>>;
  /**
   * An answer is put aside, for it is going to be retried: reads it to its end, within bounds, so that its connection is
   * free. Gives it back in a form that can still be delivered, or `undefined` when there is none. Default: as it is.
   */
  keep?(value: T): Promise<T | undefined>;
  /** An answer that nobody will read: closes what it holds. Never throws. */
  discard?(value: T): void;
}

/** What the transport gets: the call rides on the request, for an upstream's transport is shared by its calls. */
export interface CallRequest<T> extends AttemptRequest {
  readonly call: Call<T>;
  readonly number: number;
  /** Runs what sends it. */
  send<Result>(attempt: () => Result): Result;
}

/** A response head with what its function gave for it. */
export class CallHead<T> extends LayerHead {
  value: T;
  /** It is what the caller gets. */
  taken = false;
  readonly #readFields: (() => FieldList) | undefined;

  constructor({ status, reason = '', readFields }: CallAnswer, value: T) {
    super(status, reason);
    this.value = value;
    this.#readFields = readFields;
  }

  protected override readFields(): FieldList {
    return this.#readFields?.() ?? [];
  }
}
