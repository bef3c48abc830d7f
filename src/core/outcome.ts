import type { Claim } from './claim.ts';
import type { Failure } from './failure.ts';

/**
 * What somebody who knows more than a status code tells of an outcome (a host's classifier).
 * - `success`: it is what was wanted, whatever its status; final.
 * - `retryable`: a failure that the policy covers. Whether it is safe to repeat stays a matter of evidence.
 * - `ignore`: final, and it says nothing about the server.
 */
export type Ruling = 'success' | 'retryable' | 'ignore';

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
  /** The status of a gRPC call that ended with its head. Only read for a policy that names such statuses. */
  readonly grpcStatus?: number | undefined;
  /** Takes the place of the status and of the policy's codes, except for what a nack proves. */
  readonly ruling?: Ruling | undefined;
}

export type Outcome =
  | { readonly type: 'response'; readonly response: ResponseFacts }
  | { readonly type: 'failure'; readonly failure: Failure; readonly ruling?: Ruling | undefined };
