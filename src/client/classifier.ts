import type { Failure } from '../core/failure.ts';
import type { Ruling } from '../core/outcome.ts';

/** How one attempt ended, as a classifier sees it. */
export interface AttemptEnd {
  readonly method: string;
  /** The whole URL, without a fragment. */
  readonly uri: string;
  /** 200–599; `undefined` when no complete response head arrived. */
  readonly status: number | undefined;
  /** Of the response; answers `null` to everything when there is none. */
  readonly headers: { get(name: string): string | null };
  /** What happened, when there is no response. */
  readonly failure: Failure | undefined;
}

/**
 * Says what an attempt's end means. `retryable` makes the policy cover it, and nothing more: whether it is safe, whether
 * attempts, time and budget are left, stays the core's decision. `success` is final. `ignore` is final too, and counts
 * neither for nor against the server. `undefined` leaves it to the next classifier, and in the end to codes and triggers.
 *
 * A refusal that proves that nothing was processed (421, 425, a refused HTTP/2 stream) is retried whatever a classifier
 * says, unless `protocolNacks` is `false`.
 */
export type Classifier = (end: AttemptEnd) => Ruling | undefined;

/** One classifier of several: the first that says something decides. */
export function firstOf(...classifiers: readonly Classifier[]): Classifier {
  return (end) => {
    for (const classify of classifiers) {
      const ruling = classify(end);
      if (ruling !== undefined) return ruling;
    }
    return undefined;
  };
}

/** The headers of an end without a response. */
export const NO_HEADERS: AttemptEnd['headers'] = Object.freeze({ get: () => null });
