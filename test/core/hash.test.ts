import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { combineHashes, hashText } from '../../src/core/hash.ts';

test('the hash of a text is the same in every process and version: replicas must agree on it', () => {
  assert.deepEqual(
    ['', 'a', '127.0.0.1:9001', 'übung'].map(hashText),
    [2_872_998_923, 444_641_715, 1_946_263_082, 1_306_889_612],
  );
  assert.equal(combineHashes(1, 2), 2_117_216_093);
});

test('hashes are whole numbers of 32 bits', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (first, second) => {
      for (const hash of [hashText(first), combineHashes(hashText(first), hashText(second))]) {
        assert.ok(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32);
      }
    }),
  );
});

test('texts that differ in one character only are far apart: each bit is set in about half of them', () => {
  const hashes = Array.from({ length: 4096 }, (_, index) => hashText(`user-${index}`));
  const pairs = hashes.map((hash) => combineHashes(hash, 12_345));
  for (const list of [hashes, pairs]) {
    assert.ok(new Set(list).size > 4090);
    for (let bit = 0; bit < 32; bit += 1) {
      const set = list.filter((hash) => ((hash >>> bit) & 1) === 1).length;
      assert.ok(set > 1850 && set < 2250, `bit ${bit} in ${set} of 4096`);
    }
  }
});

test('which of the two hashes comes first matters', () => {
  assert.notEqual(combineHashes(1, 2), combineHashes(2, 1));
});
