import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCircuitBreaker, type CircuitPass } from '../../src/core/circuit-breaker.ts';
import type { Verdict } from '../../src/core/verdict.ts';

const OPEN_MS = 1000;
const MAX_MS = 4000;

/** The breaker as a person would describe it: a list of attempts under way, each with the time of the state it belongs to. */
class Model {
  state: 'closed' | 'open' | 'half-open' = 'closed';
  inRow = 0;
  openForMs = OPEN_MS;
  untilMs = 0;
  round = 0;
  out = 0;
  alive = 0;
  readonly failuresAllowed: number;
  readonly probes: number;

  constructor(failuresAllowed: number, probes: number) {
    this.failuresAllowed = failuresAllowed;
    this.probes = probes;
  }

  admits(nowMs: number): boolean {
    if (this.state === 'closed') return true;
    if (this.state === 'half-open' && this.out + this.alive < this.probes) return true;
    return nowMs >= this.untilMs;
  }

  enter(nowMs: number): number {
    if (this.state === 'closed') return this.round;
    if (this.state === 'open') {
      this.state = 'half-open';
      this.alive = 0;
      this.out = 0;
      this.round += 1;
    } else if (this.out + this.alive >= this.probes) {
      this.out = 0;
      this.round += 1;
    }
    this.out += 1;
    this.untilMs = nowMs + this.openForMs;
    return this.round;
  }

  leave(round: number, verdict: Verdict, nowMs: number): void {
    if (round !== this.round) return;
    if (this.state === 'half-open') {
      this.out -= 1;
      if (verdict === 'failure') this.open(nowMs, Math.min(MAX_MS, this.openForMs * 2));
      else if (verdict !== 'none') this.alive += 1;
      if (this.state === 'half-open' && this.alive === this.probes) {
        this.state = 'closed';
        this.inRow = 0;
        this.round += 1;
      }
      return;
    }
    if (verdict === 'success') this.inRow = 0;
    if (verdict === 'failure') this.inRow += 1;
    if (this.inRow >= this.failuresAllowed) this.open(nowMs, OPEN_MS);
  }

  open(nowMs: number, forMs: number): void {
    this.state = 'open';
    this.openForMs = forMs;
    this.untilMs = nowMs + forMs;
    this.inRow = 0;
    this.round += 1;
  }
}

type Step = { readonly waitMs: number } & (
  | { readonly do: 'send' }
  | { readonly do: 'end'; readonly which: number; readonly verdict: Verdict }
);

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('send' as const), waitMs: fc.constantFrom(0, 1, 300, 1000, 5000) }),
    fc.record({
      do: fc.constant('end' as const),
      waitMs: fc.constantFrom(0, 1, 300, 1000),
      which: fc.nat(9),
      verdict: fc.constantFrom<Verdict[]>('success', 'failure', 'failure', 'alive', 'none'),
    }),
  ),
  { maxLength: 80 },
);

test('it does what the model does, whatever the order in which attempts begin and end', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }), steps, (limit, probes, taken) => {
      const breaker = createCircuitBreaker({
        consecutiveFailures: limit,
        halfOpenRequests: probes,
        openForMs: OPEN_MS,
        maxOpenForMs: MAX_MS,
      });
      const model = new Model(limit, probes);
      const underWay: { pass: CircuitPass; round: number }[] = [];
      let nowMs = 0;
      for (const step of taken) {
        nowMs += step.waitMs;
        assert.equal(breaker.admits(nowMs), model.admits(nowMs));
        assert.equal(breaker.waitMs(nowMs), model.admits(nowMs) ? 0 : model.untilMs - nowMs);
        if (step.do === 'send') {
          const expected = model.admits(nowMs);
          const pass = breaker.tryPass(nowMs);
          assert.equal(pass >= 0, expected);
          if (expected) underWay.push({ pass, round: model.enter(nowMs) });
        } else if (underWay.length > 0) {
          const [ended] = underWay.splice(step.which % underWay.length, 1);
          breaker.record(ended!.pass, step.verdict, nowMs);
          model.leave(ended!.round, step.verdict, nowMs);
        }
        const shown = model.state === 'open' && nowMs >= model.untilMs ? 'half-open' : model.state;
        assert.equal(breaker.state(nowMs), shown);
      }
    }),
    { numRuns: 300 },
  );
});

test('between two closed times at most the counted probes are let through an open time', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.nat(400), { minLength: 50, maxLength: 200 }),
      (probes, gaps) => {
        const breaker = createCircuitBreaker({ consecutiveFailures: 1, halfOpenRequests: probes, openForMs: OPEN_MS });
        breaker.record(breaker.tryPass(0), 'failure', 0);
        let nowMs = 0;
        const admitted: number[] = [];
        for (const gap of gaps) {
          nowMs += gap;
          // Nothing that is sent ever comes back.
          if (breaker.tryPass(nowMs) >= 0) admitted.push(nowMs);
        }
        for (const from of admitted) {
          const within = admitted.filter((at) => at >= from && at < from + OPEN_MS).length;
          assert.ok(within <= 2 * probes, `${within} within one open time`);
        }
      },
    ),
  );
});
