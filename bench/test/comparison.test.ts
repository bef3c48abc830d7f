import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, findBestNodeLibrary } from '../harness/comparison.ts';
import { judge } from '../harness/goals.ts';
import type { Slice } from '../harness/measure.ts';
import { median, quantile } from '../harness/quantile.ts';
import type { TargetName } from '../targets/target.ts';

function slice(target: TargetName, round: number, cpuMicros: number): Slice {
  return {
    ...{
      target,
      round,
      cpuMicros,
      rssBytes: 80e6,
      requestCount: 1_000,
      requestsPerSecond: 1_000,
      p50Micros: 100,
      p99Micros: 200,
    },
    ...{ faultCount: 0, unansweredCount: 0, strangerCores: 0, stolenCores: 0, rerunCount: 0 },
  };
}

test('a ratio is taken within each round, so a machine that slows down for one round changes nothing', () => {
  const slices = [1, 10, 1].flatMap((slowness, index) => [
    slice('nginx', index + 1, 20 * slowness),
    slice('mulligan', index + 1, 30 * slowness),
  ]);
  assert.deepEqual(compare(slices, 'cpuMicros', 'mulligan', 'nginx'), { median: 1.5, low: 1.5, high: 1.5 });
});

test('a round without the reference is left out of the ratio', () => {
  const slices = [slice('mulligan', 1, 30), slice('mulligan', 2, 90), slice('nginx', 1, 20)];
  assert.equal(compare(slices, 'cpuMicros', 'mulligan', 'nginx')?.median, 1.5);
});

test('a round in which one of the two failed requests is left out of the ratio', () => {
  const slices = [slice('mulligan', 1, 30), slice('nginx', 1, 20)];
  const faulty = [{ ...slice('mulligan', 2, 3), faultCount: 1 }, slice('nginx', 2, 20)];
  assert.equal(compare([...slices, ...faulty], 'cpuMicros', 'mulligan', 'nginx')?.median, 1.5);
  assert.equal(compare(faulty, 'cpuMicros', 'mulligan', 'nginx'), undefined);
});

test('nothing is compared with a target that was not measured', () => {
  assert.equal(compare([slice('mulligan', 1, 30)], 'cpuMicros', 'mulligan', 'nginx'), undefined);
});

test('the best Node library is the one with the lowest median cost, never a native proxy', () => {
  const slices = [
    slice('nginx', 1, 20),
    slice('fast-proxy', 1, 90),
    slice('reply-from', 1, 80),
    slice('http-proxy-3', 1, 120),
  ];
  assert.equal(findBestNodeLibrary(slices), 'reply-from');
});

test('a goal is met at its limit, missed above it and not judged without a measurement', () => {
  const at = judge({ small: [slice('nginx', 1, 10), slice('mulligan', 1, 22)] });
  const above = judge({ small: [slice('nginx', 1, 10), slice('mulligan', 1, 22.1)] });
  assert.equal(at[0]?.isMet, true);
  assert.equal(above[0]?.isMet, false);
  assert.equal(judge({})[0]?.isMet, undefined);
});

test('a quantile lies between its neighbours, and that of nothing is no number', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(quantile([10, 20, 30], 0.25), 15);
  assert.ok(Number.isNaN(median([])));
});
