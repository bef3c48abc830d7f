import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LatencyHistogram } from '../../src/simulator/latency-histogram.ts';
import { recoveryOf } from '../../src/simulator/recovery.ts';
import { intervalFor, Series } from '../../src/simulator/series.ts';
import { visitsPerRequest } from '../../src/simulator/visits.ts';
import { loadOf, worstLoad } from '../../src/simulator/worst-load.ts';
import { WaitingLine } from '../../src/simulator/waiting-line.ts';
import { topologyOf } from './support.ts';

test('percentiles are within 1.6 % of the exact ones', () => {
  const histogram = new LatencyHistogram();
  const values = Array.from({ length: 10_000 }, (_, index) => 0.05 * 1.001 ** index);
  for (const value of values) histogram.record(value);
  for (const share of [0.01, 0.5, 0.95, 0.99, 0.999]) {
    const exact = values[Math.ceil(share * values.length) - 1]!;
    assert.ok(Math.abs(histogram.percentileMs(share) / exact - 1) < 0.016, `${share}`);
  }
});

test('times of weeks and of microseconds have percentiles too', () => {
  for (const ms of [0.001, 0.02, 0.5, 1_999_999, 2_000_001, 2 ** 31]) {
    const histogram = new LatencyHistogram();
    histogram.record(ms);
    assert.ok(
      Math.abs(histogram.percentileMs(0.5) - ms) <= Math.max(0.016 * ms, 0.001),
      `${ms}: ${histogram.percentileMs(0.5)}`,
    );
  }
});

test('a histogram of nothing has no percentile, one of nothing but 0 has 0', () => {
  const histogram = new LatencyHistogram();
  assert.ok(Number.isNaN(histogram.percentileMs(0.5)));
  histogram.record(0);
  assert.equal(histogram.percentileMs(0.99), 0);
});

test('what two histograms recorded can be put together', () => {
  const [both, other] = [new LatencyHistogram(), new LatencyHistogram()];
  for (const ms of [1, 2]) both.record(ms);
  for (const ms of [100, 200]) other.record(ms);
  both.add(other);
  assert.equal(both.count, 4);
  assert.equal(both.meanMs, 303 / 4);
  assert.ok(Math.abs(both.percentileMs(1) / 200 - 1) < 0.016);
});

test('the worst load is that of five seconds, and of a hundred arrivals where they are few', () => {
  const usual = Array.from({ length: 30 }, () => 100);
  const burst = usual.map((count, second) => (second === 10 ? 5 * count : count));
  assert.equal(worstLoad(burst, usual, 1000), 900 / 500);
  const rare = Array.from({ length: 30 }, () => 5);
  assert.equal(
    worstLoad(
      rare.map((count, second) => (second === 10 ? 5 * count : count)),
      rare,
      1000,
    ),
    120 / 100,
  );
});

test('a run too short, or with too few arrivals, has no worst load of its own', () => {
  assert.equal(worstLoad([100, 900], [100, 100], 1000), undefined);
  assert.equal(worstLoad([1, 9, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], 1000), undefined);
  assert.equal(loadOf(0, 0), 1);
});

test('a series counts by interval, also those in which nothing happened', () => {
  const series = new Series(100);
  for (const atMs of [0, 99.9, 100, 350]) series.add(atMs);
  assert.deepEqual(series.read(5), [2, 1, 0, 1, 0]);
  assert.equal(series.total, 4);
});

test('a run has at most 600 intervals', () => {
  for (const durationMs of [1, 1000, 59_999, 600_000, 3_600_000, 2 ** 31 - 1])
    assert.ok(durationMs / intervalFor(durationMs) <= 600);
});

test('a line gives its oldest and its newest, whatever came and went', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('push', 'oldest', 'newest'), { maxLength: 200 }), (steps) => {
      const line = new WaitingLine<number>();
      const model: number[] = [];
      for (const [index, step] of steps.entries()) {
        if (step === 'push') {
          line.push(index);
          model.push(index);
        } else if (step === 'oldest') assert.equal(line.takeOldest(), model.shift());
        else assert.equal(line.takeNewest(), model.pop());
        assert.equal(line.length, model.length);
      }
    }),
  );
});

test('visits multiply along the paths and add up where they meet', () => {
  const topology = topologyOf(`
services:
  a: { operations: { get: { serviceTime: 0s, calls: [{ to: b, count: 2 }, { parallel: [{ to: c, probability: 0.5 }, d] }] } } }
  b: { operations: { get: { serviceTime: 0s, calls: [{ to: d, count: 3, probability: 0.5 }] } } }
  c: { operations: { get: { serviceTime: 0s, calls: [d] } } }
  d: { operations: { get: { serviceTime: 0s } } }
workload: { roots: [{ operation: a, rate: 1 }] }
`);
  assert.deepEqual(visitsPerRequest(topology, 0), [1, 2, 0.5, 4.5]);
});

const FAULT = [{ fromMs: 5000, untilMs: 10_000 }];
const steady = (answered: (second: number) => number): Parameters<typeof recoveryOf>[1] => ({
  intervalMs: 1000,
  requests: Array.from({ length: 60 }, () => 100),
  answered: Array.from({ length: 60 }, (_, second) => answered(second)),
});

test('goodput is back when five seconds of it are as good as before', () => {
  const late = recoveryOf(
    FAULT,
    steady((second) => (second >= 5 && second < 22 ? 0 : 99)),
  );
  assert.deepEqual(late, { faultsEndedAtMs: 10_000, usualSuccessRatio: 0.99, lastSuccessRatio: 0.99, afterMs: 12_000 });
  const brief = recoveryOf(
    FAULT,
    steady((second) => ((second >= 5 && second < 20) || second === 23 ? 0 : 100)),
  );
  assert.equal(brief?.afterMs, 14_000, 'three good seconds are not enough');
});

test('a fault that ends in the last interval has no time after it to tell anything of', () => {
  const hourly = { intervalMs: 3_600_000, requests: [90_000], answered: [80_000] };
  assert.equal(recoveryOf(FAULT, hourly), undefined);
});

test('what stays down never recovers, and without a fault that ended there is nothing to recover from', () => {
  assert.equal(
    recoveryOf(
      FAULT,
      steady((second) => (second >= 5 ? 40 : 100)),
    )?.afterMs,
    undefined,
  );
  assert.equal(
    recoveryOf(
      [],
      steady(() => 100),
    ),
    undefined,
  );
  assert.equal(
    recoveryOf(
      [{ fromMs: 5000, untilMs: Infinity }],
      steady(() => 100),
    ),
    undefined,
  );
});
