import type { OutcomeClass } from '../classify.ts';
import { MAX_HOP_COUNT, type ClaimReason, type ErrorClaim, type RetryAdvice } from './error-claim.ts';
import { isOwnershipFailure, isSuperseded, type Outbound, type OutboundEnding } from './outbound.ts';

/** What is known of a service's answer when it is decided. */
export interface ServiceAnswer {
  /** The answer's class, as its caller will see it. */
  readonly outcomeClass: OutcomeClass;
  /** When it was decided, the host's monotonic milliseconds: a call that ended later had no part in it. */
  readonly atMs: number;
  /** Its head is with the caller: a claim can only follow in trailers, and is no use for a retry. */
  readonly committed: boolean;
  /** The deadline of the inbound request passed. */
  readonly deadlinePassed: boolean;
  /** The inbound request carries an idempotency key: repeating it is safe whatever was done. */
  readonly keyed: boolean;
  /** Whether a failed call whose edge class is unknown is taken for the cause. Default of hosts: true. */
  readonly blameUnknown: boolean;
  /** The service says that the failure is its own: it sheds load, or a fault of its code was thrown. */
  readonly own: { readonly why: ClaimReason; readonly retry?: RetryAdvice | undefined } | undefined;
}

/**
 * How the cause was found.
 * - `declared`: the service called it its own.
 * - `cause-chain`: the error names the calls.
 * - `failed-calls`: calls failed that the answer depends on, or may depend on.
 * - `in-flight`: the deadline passed while it waited for calls.
 * - `none`: no call explains it.
 */
export type AttributionBasis = 'declared' | 'cause-chain' | 'failed-calls' | 'in-flight' | 'none';

export interface Attribution {
  readonly claim: ErrorClaim;
  /** Where it can be written. In trailers it is for telemetry only. */
  readonly place: 'head' | 'trailers';
  readonly basis: AttributionBasis;
  /** The calls that are taken for the cause; empty when the service owns the error. */
  readonly causes: readonly Outbound[];
}

/**
 * What a service tells its caller about its answer: whether the retry opportunity of this failure was handled here or
 * below. `undefined`: nothing, for the answer is a success, the client's own error, or goes to nobody.
 */
export function attribute(answer: ServiceAnswer, outbounds: readonly Outbound[]): Attribution | undefined {
  if (!isOwnershipFailure(answer.outcomeClass)) return undefined;
  const place = answer.committed ? 'trailers' : 'head';
  const { basis, causes } = findCauses(answer, outbounds);
  const [first] = causes;
  if (first === undefined) return { claim: ownClaim(answer), place, basis, causes };

  const handled = causes.find(isHandled);
  const decisive = handled ?? first;
  const mayHaveRun = !answer.keyed && causes.some(({ ending }) => hadEffect(ending));
  const claim: ErrorClaim = {
    claim: handled === undefined ? 'owned' : 'relayed',
    why: reasonOf(decisive.ending),
    retry: mayHaveRun ? 'never' : undefined,
    kept: handled === undefined,
    effect: mayHaveRun ? 'maybe' : undefined,
    hops: Math.min((decisive.ending?.claim?.hops ?? 0) + 1, MAX_HOP_COUNT),
  };
  return { claim, place, basis, causes };
}

function findCauses(answer: ServiceAnswer, outbounds: readonly Outbound[]): Pick<Attribution, 'basis' | 'causes'> {
  if (answer.own !== undefined) return { basis: 'declared', causes: [] };
  const ended = outbounds.filter(({ ending }) => ending !== undefined && ending.atMs <= answer.atMs);
  // What the error itself names is exact, also when it names only what concerns no owner (a callee's 404).
  const named = ended.filter(({ causal }) => causal);
  if (named.length > 0) return { basis: 'cause-chain', causes: named.filter(isFailed) };
  const blamed = ended.filter(
    (call) => isFailed(call) && isBlamed(call, answer) && !call.covered && !isSuperseded(call, outbounds, answer.atMs),
  );
  if (blamed.length > 0) return { basis: 'failed-calls', causes: blamed };
  if (!answer.deadlinePassed || ended.length === outbounds.length) return { basis: 'none', causes: [] };
  const waiting = outbounds.filter((call) => !ended.includes(call));
  return { basis: 'in-flight', causes: waiting.map(asInFlight) };
}

/** How a call ended after the answer is no reason for the answer. */
function asInFlight(call: Outbound): Outbound {
  return { ...call, ending: undefined };
}

function isFailed({ ending }: Outbound): boolean {
  return ending !== undefined && isOwnershipFailure(ending.outcomeClass);
}

function isBlamed({ edge }: Outbound, { blameUnknown }: ServiceAnswer): boolean {
  return edge === 'fail-closed' || (edge === 'unknown' && blameUnknown);
}

/** A call in flight when time was up leaves no time for anybody. A callee that relays was obeyed also where nothing retries. */
function isHandled({ ending }: Outbound): boolean {
  if (ending === undefined) return true;
  return ending.handled || ending.claim?.claim === 'relayed' || ending.claim?.retry === 'never';
}

function hadEffect(ending: OutboundEnding | undefined): boolean {
  return ending?.effect === 'maybe' || ending?.claim?.effect === 'maybe';
}

function ownClaim({ own, deadlinePassed, outcomeClass }: ServiceAnswer): ErrorClaim {
  const guess = deadlinePassed ? 'timeout' : outcomeClass === 'throttled' ? 'quota' : 'local';
  return { claim: 'owned', why: own?.why ?? guess, retry: own?.retry, kept: false, effect: undefined, hops: 0 };
}

/** The callee's own word is nearer to the failure than what we saw of it; but what is local to it is not to us. */
function reasonOf(ending: OutboundEnding | undefined): ClaimReason {
  if (ending === undefined) return 'timeout';
  const said = ending.claim?.why;
  if (said !== undefined) return said === 'local' ? 'dependency' : said;
  switch (ending.outcomeClass) {
    case 'timeout':
      return 'timeout';
    case 'unsent':
      return 'unsent';
    case 'throttled':
      return 'quota';
    case 'short-circuited':
      return 'breaker';
    case 'committed':
      return 'stream';
    default:
      return 'dependency';
  }
}
