import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventQueue } from '../../src/simulator/event-queue.ts';

/** Delays of every kind: none, within a millisecond, soon, and further than a list's turn. */
const delay = fc.oneof(
  fc.constant(0),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.integer({ min: 0, max: 50 }),
  fc.integer({ min: 16_000, max: 60_000 }),
);

test('events happen in the order of their times, those of one instant as they were scheduled', () => {
  fc.assert(
    fc.property(fc.array(fc.array(delay, { maxLength: 8 }), { minLength: 1, maxLength: 60 }), (batches) => {
      const queue = new EventQueue();
      const happened: { atMs: number; target: number }[] = [];
      const due: { atMs: number; target: number }[] = [];
      const schedule = (delays: readonly number[]): void => {
        for (const delayMs of delays) {
          due.push({ atMs: queue.nowMs + delayMs, target: due.length });
          queue.schedule(queue.nowMs + delayMs, 1, due.length - 1, 0);
        }
      };
      for (const batch of batches) {
        schedule(batch);
        // Others are scheduled while these happen.
        if (queue.next(Infinity)) happened.push({ atMs: queue.nowMs, target: queue.target });
      }
      while (queue.next(Infinity)) happened.push({ atMs: queue.nowMs, target: queue.target });
      assert.equal(queue.size, 0);
      assert.equal(happened.length, due.length);
      for (const { atMs, target } of happened) assert.equal(atMs, due[target]!.atMs);
      for (const [index, event] of happened.slice(1).entries()) {
        const before = happened[index]!;
        assert.ok(event.atMs > before.atMs || (event.atMs === before.atMs && event.target > before.target));
      }
    }),
    { numRuns: 300 },
  );
});

test('nothing happens at or after the end, and what is left happens later', () => {
  const queue = new EventQueue();
  for (const atMs of [5, 5.5, 10, 20_000]) queue.schedule(atMs, 0, atMs, 0);
  assert.deepEqual([queue.next(5), queue.next(5.5), queue.nowMs], [false, true, 5]);
  assert.deepEqual([queue.next(10), queue.next(10), queue.nowMs], [true, false, 5.5]);
  assert.deepEqual([queue.next(30_000), queue.next(30_000), queue.nowMs], [true, true, 20_000]);
  assert.equal(queue.next(Infinity), false);
});

test('an event in the past happens now, one that never comes takes no place', () => {
  const queue = new EventQueue();
  queue.schedule(100, 0, 1, 0);
  queue.next(Infinity);
  queue.schedule(50, 2, 7, 9);
  queue.schedule(Number.NaN, 2, 8, 9);
  queue.schedule(Infinity, 2, 9, 9);
  assert.equal(queue.size, 2);
  assert.equal(queue.next(Infinity), true);
  assert.deepEqual([queue.nowMs, queue.kind, queue.target, queue.ticket], [100, 2, 7, 9]);
  assert.equal(queue.next(Infinity), true);
  assert.deepEqual([queue.nowMs, queue.target], [100, 8]);
});

test('many more events than there was room for at first are kept', () => {
  const queue = new EventQueue();
  for (let target = 0; target < 5000; target += 1) queue.schedule(5000 - target, 0, target, 0);
  let latestMs = 0;
  let count = 0;
  for (; queue.next(Infinity); count += 1) {
    assert.ok(queue.nowMs > latestMs);
    latestMs = queue.nowMs;
  }
  assert.equal(count, 5000);
});
