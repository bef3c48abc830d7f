import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FailureThreshold, failureLimits, type FailureThresholdOptions } from '../../src/core/failure-threshold.ts';

function threshold(options: FailureThresholdOptions): FailureThreshold {
  return new FailureThreshold(failureLimits('test', options));
}

/** Results as a word, `x` a failure and `.` a success, at one instant; what each one returned, as a word. */
function run(counted: FailureThreshold, results: string, nowMs = 0): string {
  return [...results].map((result) => (counted.record(result === 'x', nowMs) ? '!' : '-')).join('');
}

test('failures in a row are too many from the given number on, and a success starts over', () => {
  assert.equal(run(threshold({ consecutiveFailures: 3 }), 'xx.xxxx.'), '-----!!-');
});

test('a share of failures counts from the minimum volume on, and only a failure exceeds it', () => {
  assert.equal(run(threshold({ failurePercent: 50, minRequests: 4 }), 'xx...xx'), '-----!!');
  assert.equal(run(threshold({ failurePercent: 50, minRequests: 4 }), 'xxxx'), '---!');
  assert.equal(run(threshold({ failurePercent: 50, minRequests: 4 }), 'xxx.'), '----');
});

test('a share of exactly the limit is too much, one below it is not', () => {
  assert.equal(run(threshold({ failurePercent: 25, minRequests: 1 }), '...x').at(-1), '!');
  assert.equal(run(threshold({ failurePercent: 26, minRequests: 1 }), '...x').at(-1), '-');
});

test('either condition is enough', () => {
  const options = { consecutiveFailures: 3, failurePercent: 60, minRequests: 5 };
  assert.equal(run(threshold(options), '......xxx').at(-1), '!');
  assert.equal(run(threshold(options), 'xx.xx').at(-1), '!');
});

test('results older than the window count no more', () => {
  const counted = threshold({ failurePercent: 50, minRequests: 2, windowMs: 1000 });
  run(counted, '..........', 0);
  assert.equal(run(counted, 'x', 999), '-');
  assert.equal(run(counted, 'x', 1100), '!');
});

test('the minimum volume is 20 and the window 10 s unless they are given', () => {
  assert.equal(run(threshold({ failurePercent: 100 }), 'x'.repeat(20)), `${'-'.repeat(19)}!`);
  const counted = threshold({ failurePercent: 100 });
  run(counted, 'x'.repeat(19), 0);
  assert.equal(run(counted, 'x', 9_999), '!');
  const late = threshold({ failurePercent: 100 });
  run(late, 'x'.repeat(19), 0);
  assert.equal(run(late, 'x', 10_000), '-');
});

test('reset forgets the row and the window', () => {
  const row = threshold({ consecutiveFailures: 2 });
  run(row, 'x');
  row.reset();
  assert.equal(run(row, 'xx'), '-!');
  const share = threshold({ failurePercent: 50, minRequests: 2 });
  run(share, 'x.');
  share.reset();
  assert.equal(run(share, 'x.x'), '--!');
});

test('it agrees with counting the whole history, on one instant', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.boolean(), { maxLength: 60 }),
      (failurePercent, minRequests, failures) => {
        const counted = threshold({ failurePercent, minRequests });
        failures.forEach((failed, index) => {
          const seen = failures.slice(0, index + 1);
          const share = (100 * seen.filter(Boolean).length) / seen.length;
          assert.equal(counted.record(failed, 5), failed && seen.length >= minRequests && share >= failurePercent);
        });
      },
    ),
  );
});
