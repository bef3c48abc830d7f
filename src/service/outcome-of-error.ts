import type { OutcomeClass } from '../core/classify.ts';
import type { OutboundEnding } from '../core/ownership/outbound.ts';
import { isIdempotent } from '../core/safety.ts';
import { errorCode } from '../core/failure-cause.ts';

/** How far a call had come when it failed. */
export interface CallSite {
  readonly method: string;
  readonly keyed: boolean;
  /** Some of the request may have left: a connection stood, and was written to. */
  readonly sent: boolean;
  /** The head of an answer had arrived. */
  readonly answered: boolean;
}

/** What a library that makes calls threw, as the end of the call. */
export function endingOfError(error: unknown, site: CallSite, atMs: number): OutboundEnding {
  const outcomeClass = classOf(error, site);
  const mayHaveRun = site.sent && !site.keyed && !isIdempotent(site.method) && outcomeClass !== 'cancelled';
  return { atMs, outcomeClass, claim: undefined, handled: false, effect: mayHaveRun ? 'maybe' : undefined };
}

function classOf(error: unknown, { sent, answered }: CallSite): OutcomeClass {
  const code = errorCode(error);
  const timedOut = TIMEOUT.test(code) || nameOf(error) === 'TimeoutError';
  // Whoever gave a call up by itself learned nothing about the callee; whose time ran out did.
  if (!timedOut && (CANCELLED.has(code) || nameOf(error) === 'AbortError')) return 'cancelled';
  if (answered) return 'committed';
  if (!sent) return 'unsent';
  return timedOut ? 'timeout' : 'ambiguous';
}

const CANCELLED: ReadonlySet<string> = new Set(['ABORT_ERR', 'UND_ERR_ABORTED', 'UND_ERR_DESTROYED']);

/** `ETIMEDOUT`, `UND_ERR_HEADERS_TIMEOUT`, `ERR_HTTP_REQUEST_TIMEOUT` and the like. */
const TIMEOUT = /TIMEDOUT|TIMEOUT/;

function nameOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'name' in error && typeof error.name === 'string'
    ? error.name
    : undefined;
}
