import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPermits } from '../../src/core/permits.ts';

test('permits are granted up to the limit and no further', () => {
  const permits = createPermits(2);
  assert.equal(permits.limit, 2);
  assert.deepEqual([permits.tryAcquire(), permits.tryAcquire(), permits.tryAcquire()], [true, true, false]);
  assert.equal(permits.inflight, 2);
});

test('a permit that is given back is granted again', () => {
  const permits = createPermits(1);
  permits.tryAcquire();
  permits.release();
  assert.equal(permits.inflight, 0);
  assert.equal(permits.tryAcquire(), true);
});

test('giving back more than was taken does not raise the limit', () => {
  const permits = createPermits(1);
  permits.release();
  assert.equal(permits.inflight, 0);
  assert.equal(permits.tryAcquire(), true);
  assert.equal(permits.tryAcquire(), false);
});

test('ten requests that each retry three times never have more than ten attempts in flight', () => {
  const permits = createPermits(10);
  let most = 0;
  let refused = 0;
  for (let request = 0; request < 10; request += 1) assert.ok(permits.tryAcquire());
  for (let retry = 0; retry < 3; retry += 1) {
    for (let request = 0; request < 10; request += 1) {
      permits.release();
      if (!permits.tryAcquire()) refused += 1;
      most = Math.max(most, permits.inflight);
    }
  }
  assert.equal(most, 10);
  assert.equal(refused, 0);
});

test('Infinity is no limit', () => {
  const permits = createPermits(Infinity);
  for (let count = 0; count < 5000; count += 1) assert.ok(permits.tryAcquire());
});

test('a limit that lets nothing through, or is no whole number, is refused by name', () => {
  for (const limit of [0, -1, 1.5, NaN, -Infinity]) {
    assert.throws(() => createPermits(limit), {
      name: 'RangeError',
      message: new RegExp(`maxInflightRequests is ${String(limit)};`),
    });
  }
});
