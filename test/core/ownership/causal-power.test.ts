import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { causalPower } from '../../../src/core/ownership/causal-power.ts';

function near(actual: number | undefined, expected: number, within = 0.001): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= within,
    `${String(actual)}, not ${String(expected)}`,
  );
}

test('nothing is known while one of the rows is empty', () => {
  const nothing = { power: undefined, lower: 0, upper: 1 };
  assert.deepEqual(causalPower({ n11: 50, n10: 5, n01: 0, n00: 0 }), nothing);
  assert.deepEqual(causalPower({ n11: 0, n10: 0, n01: 5, n00: 50 }), nothing);
  assert.deepEqual(causalPower({ n11: NaN, n10: 0, n01: 5, n00: 50 }), nothing);
});

test('the power is the share of the good answers that a failure of the callee takes away', () => {
  near(causalPower({ n11: 50, n10: 50, n01: 0, n00: 100 }).power, 0.5);
  near(causalPower({ n11: 100, n10: 0, n01: 50, n00: 50 }).power, 1);
  near(causalPower({ n11: 75, n10: 25, n01: 50, n00: 50 }).power, 0.5);
});

test('what fails as often without the callee has no power, be it 90 % of the time', () => {
  const { power, lower, upper } = causalPower({ n11: 900, n10: 100, n01: 900, n00: 100 });
  near(power, 0);
  assert.equal(lower, 0);
  assert.ok(upper < 0.25, String(upper));
});

test('a callee whose failures make the caller fail less has no power rather than less than none', () => {
  const { power, lower } = causalPower({ n11: 1, n10: 99, n01: 50, n00: 50 });
  assert.equal(power, 0);
  assert.equal(lower, 0);
});

test('a caller that never succeeds says nothing about its callees', () => {
  assert.deepEqual(causalPower({ n11: 90, n10: 0, n01: 90, n00: 0 }), { power: undefined, lower: 0, upper: 1 });
});

test('with many good calls beside it, the bounds are those of the Wilson interval', () => {
  // One-sided 95 %: n / (n + 1.6449²) for n co-failures of n.
  const clean = (count: number): number => causalPower({ n11: count, n10: 0, n01: 0, n00: 1e9 }).lower;
  near(clean(13), 13 / (13 + 1.6449 ** 2));
  near(clean(10), 10 / (10 + 1.6449 ** 2));
  near(causalPower({ n11: 0, n10: 20, n01: 0, n00: 1e9 }).upper, 1 - 20 / (20 + 1.6449 ** 2));
  // 30 of 100: the score interval of p = 0.3 is 0.2306 to 0.3799 at one-sided 95 %.
  const mixed = causalPower({ n11: 70, n10: 30, n01: 0, n00: 1e9 });
  near(mixed.lower, 1 - 0.3801, 0.002);
  near(mixed.upper, 1 - 0.2313, 0.002);
});

test('bounds enclose the estimate, stay within 0 and 1, and draw nearer with more of the same', () => {
  const weight = fc.integer({ min: 0, max: 400 });
  fc.assert(
    fc.property(weight, weight, weight, weight, (n11, n10, n01, n00) => {
      const { power, lower, upper } = causalPower({ n11, n10, n01, n00 });
      assert.ok(lower >= 0 && upper <= 1 && lower <= upper, `${String(lower)} to ${String(upper)}`);
      if (power === undefined) return;
      assert.ok(lower <= power + 1e-9 && power <= upper + 1e-9);
      const more = causalPower({ n11: n11 * 9, n10: n10 * 9, n01: n01 * 9, n00: n00 * 9 });
      assert.ok(more.upper - more.lower <= upper - lower + 1e-9);
    }),
    { numRuns: 400 },
  );
});

test('the bounds are wrong about one time in twenty', () => {
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  // The callee's failure takes away 60 % of the good answers of a caller that fails 20 % of the time anyway.
  const draw = (): readonly [lower: number, upper: number] => {
    const tally = { n11: 0, n10: 0, n01: 0, n00: 0 };
    for (let call = 0; call < 60; call += 1) {
      if (random() < 1 - 0.8 * 0.4) tally.n11 += 1;
      else tally.n10 += 1;
    }
    for (let call = 0; call < 240; call += 1) {
      if (random() < 0.2) tally.n01 += 1;
      else tally.n00 += 1;
    }
    const { lower, upper } = causalPower(tally);
    return [lower, upper];
  };
  const drawn = Array.from({ length: 2000 }, draw);
  const tooHigh = drawn.filter(([lower]) => lower > 0.6).length / drawn.length;
  const tooLow = drawn.filter(([, upper]) => upper < 0.6).length / drawn.length;
  assert.ok(tooHigh > 0.03 && tooHigh < 0.07, String(tooHigh));
  assert.ok(tooLow > 0.03 && tooLow < 0.07, String(tooLow));
});
