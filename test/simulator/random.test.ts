import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/simulator/random.ts';
import type { ServiceTime } from '../../src/simulator/service-time.ts';
import { drawServiceTimeMs, meanServiceTimeMs } from '../../src/simulator/service-time.ts';

const COUNT = 100_000;
const draws = (draw: (random: Random) => number): number[] => {
  const random = new Random(7, 1);
  return Array.from({ length: COUNT }, () => draw(random));
};
const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test('numbers are in [0, 1), evenly, and not the same twice', () => {
  const values = draws((random) => random.next());
  assert.ok(values.every((value) => value >= 0 && value < 1));
  assert.ok(Math.abs(meanOf(values) - 0.5) < 3 * Math.sqrt(1 / 12 / COUNT));
  const tenths = Array.from(
    { length: 10 },
    (_, tenth) => values.filter((value) => Math.floor(value * 10) === tenth).length,
  );
  for (const count of tenths) assert.ok(Math.abs(count - COUNT / 10) < 4 * Math.sqrt(COUNT * 0.09), String(count));
  assert.ok(new Set(values).size > COUNT * 0.999);
});

test('successive numbers are not correlated, nor are the streams of one seed or neighbouring seeds', () => {
  const centred = (seed: number, stream: number): number[] => {
    const random = new Random(seed, stream);
    return Array.from({ length: COUNT }, () => random.next() - 0.5);
  };
  const first = centred(1, 1);
  for (const other of [first.slice(1), centred(1, 2), centred(2, 1), centred(1 + 2 ** 32, 1)]) {
    const correlation = meanOf(other.map((value, index) => value * first[index]!)) * 12;
    assert.ok(Math.abs(correlation) < 4 / Math.sqrt(COUNT), String(correlation));
  }
});

test('the same seed and stream give the same numbers, for ever', () => {
  const random = new Random(42, 1);
  const again = new Random(42, 1);
  const numbers = Array.from({ length: 5 }, () => random.next());
  assert.deepEqual(
    numbers,
    Array.from({ length: 5 }, () => again.next()),
  );
});

for (const [name, time] of [
  ['constant', { kind: 'constant', ms: 5 }],
  ['exponential', { kind: 'exponential', meanMs: 5 }],
  ['lognormal', { kind: 'lognormal', p50Ms: 4, p99Ms: 20 }],
] as const satisfies readonly (readonly [string, ServiceTime])[]) {
  test(`${name} service times have the mean that is told of them, and are never negative`, () => {
    const values = draws((random) => drawServiceTimeMs(time, random));
    const mean = meanServiceTimeMs(time);
    assert.ok(Math.abs(meanOf(values) - mean) < mean * 0.03, `${meanOf(values)}, expected ${mean}`);
    assert.ok(values.every((value) => value >= 0 && Number.isFinite(value)));
  });
}

test('a lognormal service time has the median and the 99th percentile that were asked for', () => {
  const sorted = draws((random) => drawServiceTimeMs({ kind: 'lognormal', p50Ms: 4, p99Ms: 20 }, random)).sort(
    (a, b) => a - b,
  );
  assert.ok(Math.abs(sorted[COUNT / 2]! - 4) < 0.1);
  assert.ok(Math.abs(sorted[Math.floor(COUNT * 0.99)]! - 20) < 0.8);
});
