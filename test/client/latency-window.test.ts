import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LatencyWindow } from '../../src/client/latency-window.ts';

test('a percentile is the time within which that share of the samples came', () => {
  const window = new LatencyWindow();
  for (let ms = 100; ms >= 1; ms -= 1) window.add(ms);
  assert.deepEqual(
    [50, 95, 99.9, 0].map((percent) => window.percentile(percent)),
    [50, 95, 100, 1],
  );
});

test('old samples give way to new ones', () => {
  const window = new LatencyWindow();
  for (let i = 0; i < 256; i += 1) window.add(1000);
  for (let i = 0; i < 256; i += 1) window.add(1);
  assert.equal(window.count, 256);
  assert.equal(window.percentile(99), 1);
});

test('without samples there is no time', () => {
  assert.equal(new LatencyWindow().percentile(95), 0);
});
