import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentPeak } from '../../src/telemetry/recent-peak.ts';

test('the largest number stays for one to two minutes', () => {
  const peak = new RecentPeak();
  peak.add(3, 0);
  peak.add(1, 59_999);
  assert.equal(peak.read(59_999), 3);
  peak.add(2, 60_000);
  assert.equal(peak.read(119_999), 3);
  assert.equal(peak.read(120_000), 2);
  assert.equal(peak.read(180_000), 0);
});

test('after a long silence nothing is left', () => {
  const peak = new RecentPeak();
  peak.add(3, 0);
  assert.equal(peak.read(3_600_000), 0);
});
