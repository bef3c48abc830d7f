import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pathAllowance } from '../../../src/core/ownership/path-allowance.ts';

test('three hops of 10 % are 33.1 % for the one that retries, in up to two retries', () => {
  const { share, maxRetries } = pathAllowance(0.1, 3, 1);
  assert.ok(Math.abs(share - 0.331) < 1e-12);
  assert.equal(maxRetries, 2);
});

test('a path of one hop changes nothing', () => {
  assert.deepEqual(pathAllowance(0.1, 1, 1), { share: 0.1, maxRetries: 1 });
});

test('a policy of more retries keeps them, one of none gets none', () => {
  assert.equal(pathAllowance(0.1, 4, 5).maxRetries, 5);
  assert.equal(pathAllowance(0.1, 4, 0).maxRetries, 0);
});

test('the load at the origin never exceeds that of a budget on every hop, nor twice the requests', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 99 }), (budget, hops) => {
      const { share } = pathAllowance(budget, hops, 1);
      assert.ok(share >= 0 && share <= 1);
      assert.ok(1 + share <= (1 + budget) ** hops + 1e-9);
    }),
  );
});

test('a share or a number of hops out of range is refused in words', () => {
  assert.throws(() => pathAllowance(1.5, 2, 1), /budgetShare is 1.5; give a share from 0 to 1/);
  assert.throws(() => pathAllowance(Number.NaN, 2, 1), RangeError);
  assert.throws(() => pathAllowance(0.1, 0, 1), /hopCount/);
  assert.throws(() => pathAllowance(0.1, 2, -1), /maxRetries/);
});
