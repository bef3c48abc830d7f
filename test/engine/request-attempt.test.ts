import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRequestAttempt, withRequestAttempt } from '../../src/engine/request-attempt.ts';

const read = (value: string): string | undefined => {
  const found = readRequestAttempt(['Host', 'a', 'request-attempt', value]);
  return found === undefined ? undefined : `${found.attempt} ${found.lineage}`;
};

const understood: readonly (readonly [string, string])[] = [
  ['n=2, lineage=1', '2 1'],
  ['lineage=3,n=1', '1 3'],
  ['n=2, lineage=1, can-retry=?1', '2 1'],
  ['n=2;x=y, lineage=1', '2 1'],
  ['n=3', '3 2'],
  ['n=1', '1 0'],
  ['n=2, lineage=0', '2 0'],
  ['n=99, lineage=1000', '16 16'],
  ['n=2, lineage=1, lineage=4', '2 4'],
];
for (const [value, expected] of understood) test(`"${value}" is understood`, () => assert.equal(read(value), expected));

const ignored: readonly string[] = [
  '',
  'n',
  'n=?1',
  'n=two',
  'n="2"',
  'n=(2)',
  'n=0',
  'n=-1',
  'n=1.5',
  'n=2, lineage=-1',
  'n=2, lineage=0.5',
  'n=2, lineage',
  'lineage=1',
  'n=2,',
  'n=2; lineage=1;',
  'N=2, lineage=1',
  'n=2, lineage=1\u00e9',
  'n=99999999999999999, lineage=1',
  `n=2, lineage=1, x="${'y'.repeat(240)}"`,
  'n=2, a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1',
  '__proto__=1',
];
for (const value of ignored) test(`"${value.slice(0, 40)}" says nothing`, () => assert.equal(read(value), undefined));

test('the field says nothing when it is there twice, and nothing when it is not there', () => {
  assert.equal(readRequestAttempt(['Request-Attempt', 'n=2', 'REQUEST-ATTEMPT', 'n=2']), undefined);
  assert.equal(readRequestAttempt(['Host', 'a']), undefined);
});

test('a value of exactly 256 characters is read, one of 257 is not', () => {
  const value = (length: number): string => `n=2, lineage=1, x="${'y'.repeat(length - 20)}"`;
  assert.deepEqual([read(value(256)), read(value(257))], ['2 1', undefined]);
});

test('a first attempt of a request that is no retry carries no field, and its fields are not copied', () => {
  const fields = ['Host', 'a'];
  assert.equal(withRequestAttempt(fields, 1, 0), fields);
});

test('later attempts, and first attempts of retries, carry their number and all retries above them', () => {
  assert.deepEqual(withRequestAttempt(['Host', 'a'], 2, 0), ['Host', 'a', 'Request-Attempt', 'n=2, lineage=1']);
  assert.deepEqual(withRequestAttempt([], 1, 2), ['Request-Attempt', 'n=1, lineage=2']);
  assert.deepEqual(withRequestAttempt([], 3, 2), ['Request-Attempt', 'n=3, lineage=4']);
  assert.deepEqual(withRequestAttempt([], 40, 2), ['Request-Attempt', 'n=16, lineage=16']);
});

test('a field that is there already gives way', () => {
  assert.deepEqual(withRequestAttempt(['request-attempt', 'n=1', 'A', 'b'], 2, 0), [
    'A',
    'b',
    'Request-Attempt',
    'n=2, lineage=1',
  ]);
});

test('what is written is read back, and no value makes the reader throw or leave its bounds', () => {
  const count = fc.integer({ min: 0, max: 16 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 16 }), count, (attempt, above) => {
      if (attempt === 1 && above === 0) return;
      const found = readRequestAttempt(withRequestAttempt([], attempt, above));
      assert.deepEqual(found, { attempt, lineage: Math.min(16, above + attempt - 1) });
    }),
  );
  const value = fc.oneof(fc.string(), fc.stringMatching(/^(n|lineage)=-?[0-9.]{1,20}(, ?(n|lineage)=[0-9]{1,20})?$/));
  fc.assert(
    fc.property(value, (text) => {
      const found = readRequestAttempt(['Request-Attempt', text]);
      if (found === undefined) return;
      assert.ok(found.attempt >= 1 && found.attempt <= 16 && found.lineage >= 0 && found.lineage <= 16);
    }),
  );
});

test('whether another attempt can follow is told with the first attempt, too', () => {
  assert.deepEqual(withRequestAttempt([], 1, 0, true), ['Request-Attempt', 'n=1, lineage=0, can-retry']);
  assert.deepEqual(withRequestAttempt([], 2, 0, false), ['Request-Attempt', 'n=2, lineage=1, can-retry=?0']);
  assert.deepEqual(readRequestAttempt(['Request-Attempt', 'n=2, lineage=1, can-retry=?0']), { attempt: 2, lineage: 1 });
});
