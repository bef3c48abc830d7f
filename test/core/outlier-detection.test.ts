import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  createOutlier,
  createOutlierPolicy,
  mayEject,
  type Outlier,
  type OutlierDetectionOptions,
} from '../../src/core/outlier-detection.ts';

function outlier(options: OutlierDetectionOptions = {}): Outlier {
  return createOutlier(createOutlierPolicy(options));
}

describe('an endpoint', () => {
  test('is to be ejected at the fifth failure in a row, and at each one after it until it is', () => {
    const one = outlier();
    const told = Array.from({ length: 6 }, () => one.record(true, 0));
    assert.deepEqual(told, [false, false, false, false, true, true]);
    assert.equal(one.isEjected(0), false);
  });

  test('is given a clean record by a success', () => {
    const one = outlier({ consecutiveFailures: 2 });
    assert.deepEqual([one.record(true, 0), one.record(false, 0), one.record(true, 0)], [false, false, false]);
  });

  test('is to be ejected for its share of failures, with the row counted only if that is given too', () => {
    const one = outlier({ failurePercent: 90, minRequests: 10 });
    for (let i = 0; i < 9; i += 1) assert.equal(one.record(true, 0), false);
    assert.equal(one.record(true, 0), true);
  });

  test('stays out for 30 s and is back after them', () => {
    const one = outlier();
    assert.equal(one.eject(1000), 30_000);
    assert.deepEqual([one.isEjected(1000), one.isEjected(30_999), one.isEjected(31_000)], [true, true, false]);
    assert.equal(one.ejectedUntilMs, 31_000);
  });

  test('is not ejected before it ever was', () => {
    assert.deepEqual([outlier().isEjected(0), outlier().ejectedUntilMs], [false, 0]);
  });

  test('stays out longer each time it fails again at once, up to the ceiling', () => {
    const one = outlier({ baseEjectionMs: 1000, maxEjectionMs: 3500 });
    let nowMs = 0;
    const times: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      times.push(one.eject(nowMs));
      nowMs = one.ejectedUntilMs;
    }
    assert.deepEqual(times, [1000, 2000, 3000, 3500, 3500]);
  });

  test('is forgiven one ejection for each base time that it served', () => {
    const one = outlier({ baseEjectionMs: 1000 });
    one.eject(0);
    one.eject(1000);
    assert.equal(one.eject(3000), 3000);
    assert.equal(one.eject(one.ejectedUntilMs + 1999), 3000);
    assert.equal(one.eject(one.ejectedUntilMs + 2000), 2000);
    assert.equal(one.eject(one.ejectedUntilMs + 100_000), 1000);
  });

  test('ejected while it is out (a panic) stays out longer, not shorter', () => {
    const one = outlier({ baseEjectionMs: 1000 });
    one.eject(0);
    assert.equal(one.eject(500), 2000);
  });

  test('is not judged by what comes back while it is out', () => {
    const one = outlier({ consecutiveFailures: 1, baseEjectionMs: 1000 });
    one.eject(0);
    assert.equal(one.record(true, 999), false);
    assert.equal(one.record(true, 1000), true);
  });

  test('comes back with a clean record', () => {
    const one = outlier({ consecutiveFailures: 2, baseEjectionMs: 1000 });
    one.record(true, 0);
    one.record(true, 0);
    one.eject(0);
    assert.equal(one.record(true, 1000), false);
  });
});

describe('how many may be ejected', () => {
  const rows: readonly (readonly [percent: number, endpoints: number, most: number])[] = [
    [50, 1, 0],
    [50, 2, 1],
    [50, 3, 1],
    [50, 4, 2],
    [50, 5, 2],
    [10, 5, 1],
    [10, 20, 2],
    [100, 3, 2],
    [100, 1, 0],
    [0, 10, 0],
  ];
  for (const [maxEjectionPercent, endpointCount, most] of rows) {
    test(`${maxEjectionPercent} % of ${endpointCount}: ${most}, for one in any case (but for 0 %) and never the last live one`, () => {
      const policy = createOutlierPolicy({ maxEjectionPercent });
      let ejectedCount = 0;
      while (mayEject(policy, { endpointCount, ejectedCount, liveCount: endpointCount - ejectedCount }))
        ejectedCount += 1;
      assert.equal(ejectedCount, most);
    });
  }

  test('the only live one among others that are down is never ejected', () => {
    const policy = createOutlierPolicy({ maxEjectionPercent: 100 });
    assert.equal(mayEject(policy, { endpointCount: 2, ejectedCount: 0, liveCount: 1 }), false);
    assert.equal(mayEject(policy, { endpointCount: 3, ejectedCount: 0, liveCount: 2 }), true);
  });

  test('whatever is asked, a live one remains and the share holds', () => {
    const count = fc.nat(30);
    fc.assert(
      fc.property(fc.nat(100), count, count, count, (maxEjectionPercent, live, ejected, down) => {
        const group = { endpointCount: live + ejected + down, ejectedCount: ejected, liveCount: live };
        if (!mayEject(createOutlierPolicy({ maxEjectionPercent }), group)) return;
        assert.ok(live >= 2);
        assert.ok(ejected + 1 <= Math.max(1, (group.endpointCount * maxEjectionPercent) / 100));
      }),
    );
  });
});

describe('settings', () => {
  test('the defaults are five in a row, 30 s growing to 5 min, half of the endpoints', () => {
    const policy = createOutlierPolicy();
    assert.deepEqual(
      [policy.limits.consecutiveFailures, policy.limits.failurePercent, policy.baseEjectionMs, policy.maxEjectionMs],
      [5, Infinity, 30_000, 300_000],
    );
    assert.equal(policy.maxEjectionPercent, 50);
  });

  test('with a share given, the row is looked at only if it is given too', () => {
    assert.equal(createOutlierPolicy({ failurePercent: 50 }).limits.consecutiveFailures, Infinity);
    assert.equal(createOutlierPolicy({ failurePercent: 50, consecutiveFailures: 9 }).limits.consecutiveFailures, 9);
  });

  test('a first ejection over five minutes is its own ceiling', () => {
    assert.equal(createOutlierPolicy({ baseEjectionMs: 400_000 }).maxEjectionMs, 400_000);
  });

  const refused: readonly (readonly [OutlierDetectionOptions, RegExp])[] = [
    [{ baseEjectionMs: 0 }, /outlier detection: baseEjectionMs is 0; give a whole number from 1 to 3600000/],
    [{ baseEjectionMs: 10, maxEjectionMs: 9 }, /maxEjectionMs is 9; give a whole number from 10 to 86400000/],
    [{ maxEjectionPercent: 101 }, /maxEjectionPercent is 101; give a whole number from 0 to 100/],
    [{ maxEjectionPercent: -1 }, /maxEjectionPercent is -1/],
    [{ consecutiveFailures: 0 }, /outlier detection: consecutiveFailures is 0/],
  ];
  for (const [options, message] of refused) {
    test(`${JSON.stringify(options)} is refused by name`, () => {
      assert.throws(() => createOutlierPolicy(options), { name: 'RangeError', message });
    });
  }
});
