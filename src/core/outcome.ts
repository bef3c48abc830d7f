import type { Claim } from './claim.ts';
import type { Failure } from './failure.ts';

/** What a response head says to the decision. Extracted by the host; core never sees header fields. */
export interface ResponseFacts {
  /** Final status, 200–599 (1xx never reaches the decision). */
  readonly status: number;
  /** Delay the server asked for in milliseconds (Retry-After, pushback); `undefined` when it did not ask. */
  readonly retryAfterMs?: number | undefined;
  /** The callee's ownership claim, if any. */
  readonly claim?: Claim | undefined;
  /**
   * The callee advised never to retry (`retry=never`, a negative pushback). Obeyed in every ownership mode: a host that
   * read it from a claim sets it only where claims are enforced.
   */
  readonly advisedNever?: boolean | undefined;
  /** The callee advised a retry at another endpoint only (`retry=other`): it has no room, others may. Obeyed like `advisedNever`. */
  readonly advisedOther?: boolean | undefined;
  /** The callee proved that it did not process the request (421, 425 are recognised without it). */
  readonly nack?: boolean | undefined;
}

export type Outcome =
  | { readonly type: 'response'; readonly response: ResponseFacts }
  | { readonly type: 'failure'; readonly failure: Failure };
