import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions } from '../harness/options.ts';
import { shuffle } from '../harness/shuffle.ts';
import { parseSize } from '../harness/size.ts';
import { targetNames } from '../targets/target.ts';

test('without a choice every workload runs against every target, eight times for a second', () => {
  const options = readOptions([]);
  assert.deepEqual(options?.workloadNames, ['small', 'large', 'single', 'steady']);
  assert.deepEqual(options?.targetNames, targetNames);
  assert.deepEqual([options?.roundCount, options?.sliceSeconds], [8, 1]);
});

test('a number out of range is refused with the option, the value and the range', () => {
  assert.throws(() => readOptions(['--rounds', '0']), /--rounds: "0" is not a whole number from 1 to 1000/);
  assert.throws(() => readOptions(['--slice', '1.5s']), /--slice: "1.5" is not a whole number from 1 to 60/);
});

test('an unknown target is refused with the list of the known ones', () => {
  assert.throws(() => readOptions(['--only', 'nginx,apache']), /no target "apache"; there are mulligan, .*nginx/);
});

test('a shuffled round holds every target once, in an order that the seed repeats', () => {
  const first = shuffle(targetNames, 7);
  assert.deepEqual([...first].sort(), [...targetNames].sort());
  assert.deepEqual(shuffle(targetNames, 7), first);
  assert.notDeepEqual(shuffle(targetNames, 8), first);
});

test('over many rounds each target takes each place about equally often', () => {
  const roundCount = 7_000;
  const counts = new Map<string, number>();
  for (let seed = 0; seed < roundCount; seed++)
    shuffle(targetNames, seed).forEach((name, place) =>
      counts.set(`${name} ${place}`, (counts.get(`${name} ${place}`) ?? 0) + 1),
    );
  for (const [where, count] of counts)
    assert.ok(Math.abs(count - roundCount / targetNames.length) < 150, `${where}: ${count}`);
  assert.equal(counts.size, targetNames.length ** 2);
});

test('a size is a number with its unit, and anything else is refused', () => {
  assert.equal(parseSize('2GiB'), 2 ** 31);
  for (const text of ['2GB', '0KiB', '', '-1MiB', '1.5GiB']) assert.throws(() => parseSize(text), RangeError);
});
