import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutcomeClass } from '../../../src/core/classify.ts';
import { attribute, type ServiceAnswer } from '../../../src/core/ownership/attribute.ts';
import type { ErrorClaim } from '../../../src/core/ownership/error-claim.ts';
import type { Outbound, OutboundEnding } from '../../../src/core/ownership/outbound.ts';
import { PLAIN_ANSWER } from './chain.ts';
import { MATRIX, type CallSketch, type MatrixRow } from './matrix.ts';

const OUTCOME_CLASSES: readonly OutcomeClass[] = [
  'ok',
  'client',
  'throttled',
  'server',
  'timeout',
  'unsent',
  'ambiguous',
  'cancelled',
  'short-circuited',
  'committed',
];

function claimOf(changes: Partial<ErrorClaim> = {}): ErrorClaim {
  return {
    claim: 'owned',
    why: undefined,
    retry: undefined,
    kept: false,
    effect: undefined,
    hops: undefined,
    ...changes,
  };
}

/** A call of 10 ms to 20 ms that failed and that the answer depends on; the answer is decided at 100 ms. */
function call(sketch: CallSketch = {}): Outbound {
  const { endedAtMs = 20, outcomeClass = 'server', handled = false, effect, claim, ...rest } = sketch;
  const ending = (atMs: number): OutboundEnding => ({
    atMs,
    outcomeClass,
    handled,
    effect,
    claim: claim === undefined ? undefined : claimOf(claim),
  });
  return {
    operation: 'stock/read',
    edge: 'fail-closed',
    startedAtMs: 10,
    covered: false,
    causal: false,
    ...rest,
    ending: endedAtMs === 'in flight' ? undefined : ending(endedAtMs),
  };
}

function answer(changes: Partial<ServiceAnswer> = {}): ServiceAnswer {
  return { ...PLAIN_ANSWER, atMs: 100, ...changes };
}

/** A claim in one line, in the order of the wire. */
function lineOf(claim: ErrorClaim | undefined): string {
  if (claim === undefined) return 'none';
  const { why, retry, kept, effect, hops } = claim;
  return [
    claim.claim,
    why === undefined ? '' : `why=${why}`,
    retry === undefined ? '' : `retry=${retry}`,
    hops === undefined ? '' : `hops=${String(hops)}`,
    kept ? 'kept' : '',
    effect === undefined ? '' : `effect=${effect}`,
  ]
    .filter((part) => part !== '')
    .join(';');
}

function tell({ calls, answer: changes }: MatrixRow): string {
  return lineOf(attribute(answer(changes), (calls ?? []).map(call))?.claim);
}

for (const row of MATRIX) {
  test(`row ${row.number}: ${row.name} is answered ${row.expected}`, () => {
    assert.equal(tell(row), row.expected);
  });
}

test('every row of the matrix has a case, and no other has', () => {
  const numbers = new Set(MATRIX.map(({ number }) => Math.trunc(number)));
  assert.deepEqual(
    [...numbers].sort((a, b) => a - b),
    Array.from({ length: 25 }, (_, index) => index + 1),
  );
});

test('only an answer that is a failure of somebody else than the client gets a claim', () => {
  for (const outcomeClass of OUTCOME_CLASSES) {
    const claimed = attribute(answer({ outcomeClass }), [call({ handled: true })]) !== undefined;
    assert.equal(claimed, !['ok', 'client', 'cancelled'].includes(outcomeClass), outcomeClass);
  }
});

for (const [outcomeClass, why] of [
  ['server', 'dependency'],
  ['ambiguous', 'dependency'],
  ['timeout', 'timeout'],
  ['unsent', 'unsent'],
  ['throttled', 'quota'],
  ['short-circuited', 'breaker'],
  ['committed', 'stream'],
] as const) {
  test(`a call that ended as ${outcomeClass} is told as ${why}`, () => {
    assert.equal(attribute(answer(), [call({ outcomeClass })])?.claim.why, why);
  });
}

test('the reason that the callee gave is passed up, but for what was local to it', () => {
  const why = (given: ErrorClaim['why']): unknown =>
    attribute(answer(), [call({ outcomeClass: 'timeout', claim: { why: given } })])?.claim.why;
  assert.equal(why('overload'), 'overload');
  assert.equal(why('breaker'), 'breaker');
  assert.equal(why('local'), 'dependency');
  assert.equal(why(undefined), 'timeout');
});

test('each hop counts itself, up to a bound', () => {
  const hops = (below: number | undefined): unknown =>
    attribute(answer(), [call({ claim: { hops: below } })])?.claim.hops;
  assert.equal(hops(undefined), 1);
  assert.equal(hops(0), 1);
  assert.equal(hops(7), 8);
  assert.equal(hops(98), 99);
  assert.equal(hops(99), 99);
});

test('a failure of its own is told as a quota where it answers 429, as a timeout where time was up, else as local', () => {
  const own = (changes: Partial<ServiceAnswer>): string => lineOf(attribute(answer(changes), [])?.claim);
  assert.equal(own({}), 'owned;why=local;hops=0');
  assert.equal(own({ outcomeClass: 'throttled' }), 'owned;why=quota;hops=0');
  assert.equal(own({ deadlinePassed: true }), 'owned;why=timeout;hops=0');
  assert.equal(own({ own: { why: 'overload', retry: 'other' } }), 'owned;why=overload;retry=other;hops=0');
});

test('the cause and how it was found are part of the answer', () => {
  const failed = call();
  const named = call({ causal: true });
  const open = call({ edge: 'fail-open' });
  const flying = call({ endedAtMs: 'in flight' });
  const found = (changes: Partial<ServiceAnswer>, calls: Outbound[]): unknown[] => {
    const { basis, causes } = attribute(answer(changes), calls)!;
    return [basis, ...causes];
  };
  assert.deepEqual(found({ own: { why: 'local' } }, [failed, named]), ['declared']);
  assert.deepEqual(found({}, [failed, named]), ['cause-chain', named]);
  assert.deepEqual(found({}, [open, failed]), ['failed-calls', failed]);
  assert.deepEqual(found({ deadlinePassed: true }, [open, flying]), ['in-flight', flying]);
  assert.deepEqual(found({ deadlinePassed: true }, [failed, flying]), ['failed-calls', failed]);
  assert.deepEqual(found({}, [open, flying]), ['none']);
  assert.deepEqual(found({ deadlinePassed: true }, [open]), ['none']);
});

test('a claim goes into trailers once the head is out', () => {
  assert.equal(attribute(answer(), [])?.place, 'head');
  assert.equal(attribute(answer({ committed: true }), [])?.place, 'trailers');
});

test('a call that ended in the very instant of the answer had a part in it, one that ended later had none', () => {
  assert.equal(attribute(answer(), [call({ endedAtMs: 100, handled: true })])?.claim.claim, 'relayed');
  assert.equal(attribute(answer(), [call({ endedAtMs: 101, handled: true })])?.claim.claim, 'owned');
});

test('how a call ended after a deadline is no reason for the answer given at it', () => {
  const late = call({ endedAtMs: 101, outcomeClass: 'server', effect: 'maybe', claim: { why: 'overload', hops: 4 } });
  const found = attribute(answer({ deadlinePassed: true }), [late]);
  assert.equal(lineOf(found?.claim), 'relayed;why=timeout;hops=1');
});

test('only a success of the same operation that began after the failure makes up for it', () => {
  const claim = (success: CallSketch): unknown =>
    attribute(answer(), [
      call({ handled: true }),
      call({ outcomeClass: 'ok', startedAtMs: 20, endedAtMs: 30, ...success }),
    ])?.claim.claim;
  assert.equal(claim({}), 'owned');
  assert.equal(claim({ startedAtMs: 19 }), 'relayed');
  assert.equal(claim({ operation: 'stock/write' }), 'relayed');
  assert.equal(claim({ target: '/stock/7' }), 'relayed');
  assert.equal(claim({ outcomeClass: 'client' }), 'relayed');
  assert.equal(claim({ endedAtMs: 100 }), 'owned');
  assert.equal(claim({ endedAtMs: 101 }), 'relayed');
  assert.equal(claim({ endedAtMs: 'in flight' }), 'relayed');
});

test('the first cause that was handled is the one that is told of, whatever failed before it', () => {
  const calls = [call({ outcomeClass: 'unsent' }), call({ outcomeClass: 'timeout', handled: true, operation: 'b' })];
  assert.equal(lineOf(attribute(answer(), calls)?.claim), 'relayed;why=timeout;hops=1');
  assert.equal(lineOf(attribute(answer(), calls.slice(0, 1))?.claim), 'owned;why=unsent;hops=1;kept');
});
