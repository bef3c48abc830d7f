import type { ServiceAnswer } from '../../../src/core/ownership/attribute.ts';
import type { ErrorClaim } from '../../../src/core/ownership/error-claim.ts';
import type { Outbound, OutboundEnding } from '../../../src/core/ownership/outbound.ts';

/** A call, said by what is special about it. */
export interface CallSketch extends Partial<Omit<Outbound, 'ending'>>, Partial<Omit<OutboundEnding, 'atMs' | 'claim'>> {
  readonly endedAtMs?: number | 'in flight';
  readonly claim?: Partial<ErrorClaim>;
}

export interface MatrixRow {
  /** The row of the table in docs/ownership.md; digits after the point tell its cases apart. */
  readonly number: number;
  readonly name: string;
  readonly calls?: readonly CallSketch[];
  readonly answer?: Partial<ServiceAnswer>;
  /** What its caller is told, in one line. */
  readonly expected: string;
}

const OWNED = { claim: 'owned' } as const;
const RELAYED = { claim: 'relayed' } as const;

/** What a service tells its caller, row by row. Calls are fail-closed and end before the answer unless they say otherwise. */
export const MATRIX: readonly MatrixRow[] = [
  { number: 1, name: 'no call at all', expected: 'owned;why=local;hops=0' },
  {
    number: 1.1,
    name: 'calls that were all well',
    calls: [{ outcomeClass: 'ok' }],
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 2,
    name: 'a retried failure without a claim',
    calls: [{ handled: true }],
    expected: 'relayed;why=dependency;hops=1',
  },
  {
    number: 3,
    name: 'a retried failure that the callee owned',
    calls: [{ claim: { ...OWNED, hops: 0 }, handled: true }],
    expected: 'relayed;why=dependency;hops=1',
  },
  {
    number: 4,
    name: 'a failure that the callee relayed, obeyed here',
    calls: [{ claim: { ...RELAYED, hops: 1 }, handled: true }],
    expected: 'relayed;why=dependency;hops=2',
  },
  {
    number: 4.1,
    name: 'a failure that the callee relayed, where nothing retries',
    calls: [{ claim: RELAYED }],
    expected: 'relayed;why=dependency;hops=1',
  },
  {
    number: 5,
    name: 'a failure that no policy here covers',
    calls: [{ claim: OWNED }],
    expected: 'owned;why=dependency;hops=1;kept',
  },
  { number: 5.1, name: 'the same without a claim', calls: [{}], expected: 'owned;why=dependency;hops=1;kept' },
  {
    number: 6,
    name: 'a retry that the budget refused',
    calls: [{ claim: OWNED, handled: true }],
    expected: 'relayed;why=dependency;hops=1',
  },
  {
    number: 7,
    name: 'a retry that the breaker refused',
    calls: [{ outcomeClass: 'short-circuited', handled: true }],
    expected: 'relayed;why=breaker;hops=1',
  },
  {
    number: 7.1,
    name: 'a retry that there was no time for',
    calls: [{ outcomeClass: 'timeout', handled: true }],
    expected: 'relayed;why=timeout;hops=1',
  },
  {
    number: 8,
    name: 'a failure that a later call made up for',
    calls: [
      { handled: true, claim: RELAYED },
      { outcomeClass: 'ok', startedAtMs: 20, endedAtMs: 30 },
    ],
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 8.1,
    name: 'a failure that a declared fallback covers',
    calls: [{ handled: true, covered: true }],
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 9,
    name: 'a failure behind a good answer',
    calls: [{ handled: true, claim: RELAYED }],
    answer: { outcomeClass: 'ok' },
    expected: 'none',
  },
  {
    number: 9.1,
    name: "a failure behind an answer about the client's own error",
    calls: [{ handled: true }],
    answer: { outcomeClass: 'client' },
    expected: 'none',
  },
  {
    number: 10,
    name: 'the failure of a dependency that it can do without',
    calls: [{ edge: 'fail-open', handled: true }],
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 11,
    name: 'the failure of a dependency of unknown class',
    calls: [{ edge: 'unknown', handled: true }],
    expected: 'relayed;why=dependency;hops=1',
  },
  {
    number: 11.1,
    name: 'the same where the unknown is not blamed',
    calls: [{ edge: 'unknown', handled: true }],
    answer: { blameUnknown: false },
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 11.2,
    name: 'the same where the error names another call',
    calls: [
      { edge: 'unknown', handled: true },
      { operation: 'rates/read', causal: true },
    ],
    expected: 'owned;why=dependency;hops=1;kept',
  },
  {
    number: 11.3,
    name: 'the same where the service calls the error its own',
    calls: [{ edge: 'unknown', handled: true }],
    answer: { own: { why: 'local' } },
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 12,
    name: 'several failures of which the error names one not handled',
    calls: [{ handled: true }, { operation: 'rates/read', causal: true }],
    expected: 'owned;why=dependency;hops=1;kept',
  },
  {
    number: 12.1,
    name: 'several failures of which the error names one handled',
    calls: [{}, { operation: 'rates/read', causal: true, handled: true, outcomeClass: 'timeout' }],
    expected: 'relayed;why=timeout;hops=1',
  },
  {
    number: 12.2,
    name: 'several failures, one of them handled, and no cause named',
    calls: [{}, { operation: 'rates/read', handled: true, outcomeClass: 'timeout' }],
    expected: 'relayed;why=timeout;hops=1',
  },
  {
    number: 12.3,
    name: 'several failures, none of them handled',
    calls: [{ outcomeClass: 'unsent' }, { operation: 'rates/read' }],
    expected: 'owned;why=unsent;hops=1;kept',
  },
  {
    number: 13,
    name: "a callee's 404 that it did not expect",
    calls: [{ outcomeClass: 'client' }],
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 13.1,
    name: "a callee's 404 that the error names, beside another failure",
    calls: [
      { outcomeClass: 'client', causal: true },
      { operation: 'rates/read', handled: true },
    ],
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 14,
    name: 'an overloaded callee that advised never to retry',
    calls: [{ claim: { ...OWNED, why: 'overload', retry: 'never', hops: 0 }, handled: true }],
    expected: 'relayed;why=overload;hops=1',
  },
  {
    number: 14.1,
    name: 'the same where nothing retries',
    calls: [{ claim: { ...OWNED, why: 'overload', retry: 'never', hops: 0 } }],
    expected: 'relayed;why=overload;hops=1',
  },
  {
    number: 15,
    name: 'an overloaded callee, retried at another endpoint',
    calls: [{ claim: { ...OWNED, why: 'overload', retry: 'other', hops: 0 }, handled: true }],
    expected: 'relayed;why=overload;hops=1',
  },
  {
    number: 16,
    name: 'a callee that never answered, retried',
    calls: [{ outcomeClass: 'timeout', handled: true }],
    expected: 'relayed;why=timeout;hops=1',
  },
  {
    number: 17,
    name: 'its own deadline, while a call was under way',
    calls: [{ endedAtMs: 'in flight' }],
    answer: { outcomeClass: 'timeout', deadlinePassed: true },
    expected: 'relayed;why=timeout;hops=1',
  },
  {
    number: 17.1,
    name: 'its own deadline, with nothing under way',
    calls: [{ outcomeClass: 'ok' }],
    answer: { outcomeClass: 'timeout', deadlinePassed: true },
    expected: 'owned;why=timeout;hops=0',
  },
  {
    number: 18,
    name: 'a request that its caller cancelled',
    calls: [{ outcomeClass: 'cancelled' }],
    answer: { outcomeClass: 'cancelled' },
    expected: 'none',
  },
  {
    number: 18.1,
    name: 'the copy that lost a race, and a failure of its own',
    calls: [{ outcomeClass: 'cancelled', handled: true }],
    expected: 'owned;why=local;hops=0',
  },
  {
    number: 19,
    name: 'a call that was never sent, retried',
    calls: [{ outcomeClass: 'unsent', handled: true }],
    expected: 'relayed;why=unsent;hops=1',
  },
  {
    number: 20,
    name: 'a call that may have run and must not run twice',
    calls: [{ outcomeClass: 'ambiguous', effect: 'maybe', claim: OWNED }],
    expected: 'owned;why=dependency;retry=never;hops=1;kept;effect=maybe',
  },
  {
    number: 20.1,
    name: 'the same for a keyed request',
    calls: [{ outcomeClass: 'ambiguous', effect: 'maybe' }],
    answer: { keyed: true },
    expected: 'owned;why=dependency;hops=1;kept',
  },
  {
    number: 20.2,
    name: 'an effect that a callee told of',
    calls: [{ claim: { ...OWNED, retry: 'never', effect: 'maybe', kept: true, hops: 1 }, handled: true }],
    expected: 'relayed;why=dependency;retry=never;hops=2;effect=maybe',
  },
  {
    number: 20.3,
    name: 'an effect beside a failure that was handled',
    calls: [{ handled: true }, { operation: 'charge', effect: 'maybe' }],
    expected: 'relayed;why=dependency;retry=never;hops=1;effect=maybe',
  },
  {
    number: 21,
    name: 'a stream that broke after its first message',
    calls: [{ outcomeClass: 'committed', claim: OWNED }],
    expected: 'owned;why=stream;hops=1;kept',
  },
  {
    number: 21.1,
    name: 'the same after its own first message, in trailers',
    calls: [{ outcomeClass: 'committed' }],
    answer: { committed: true },
    expected: 'owned;why=stream;hops=1;kept',
  },
  { number: 22, name: 'a failed call that is not seen, its context lost', expected: 'owned;why=local;hops=0' },
  {
    number: 23,
    name: 'a retried failure of a legacy service',
    calls: [{ handled: true }],
    expected: 'relayed;why=dependency;hops=1',
  },
  {
    number: 24,
    name: 'load shed before any call, with room elsewhere',
    answer: { own: { why: 'overload', retry: 'other' } },
    expected: 'owned;why=overload;retry=other;hops=0',
  },
  {
    number: 24.1,
    name: 'load shed before any call, with room nowhere',
    answer: { own: { why: 'overload', retry: 'never' } },
    expected: 'owned;why=overload;retry=never;hops=0',
  },
  {
    number: 25,
    name: 'a call that nobody waited for and that fails after the answer',
    calls: [{ endedAtMs: 101, handled: true }],
    expected: 'owned;why=local;hops=0',
  },
];
