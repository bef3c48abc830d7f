import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TraceSampling } from '../../src/telemetry/trace-sampling.ts';
import { isRecorded } from '../../src/telemetry/trace-sampling.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const client = (sampled: boolean) => ({ traceId, spanId: 'b7ad6b7169203331', sampled });

const rows: readonly (readonly [TraceSampling, boolean | undefined, boolean])[] = [
  ['parent', true, true],
  ['parent', false, false],
  ['parent', undefined, true],
  ['always', true, true],
  ['always', false, true],
  ['always', undefined, true],
  [{ ratio: 1 }, undefined, true],
  [{ ratio: 1 }, true, true],
  [{ ratio: 1 }, false, false],
];

for (const [sampling, sampled, expected] of rows) {
  const said = sampled === undefined ? 'a client without context' : `a client that says ${sampled ? 'yes' : 'no'}`;
  test(`${JSON.stringify(sampling)} with ${said}: ${expected ? 'recorded' : 'not recorded'}`, () =>
    equal(isRecorded(sampling, sampled === undefined ? undefined : client(sampled), traceId), expected));
}

/** Trace ids whose random part is as given, of 14 digits. */
const withRandom = (digits: string): string => `${'a'.repeat(18)}${digits}`;

test('a ratio takes the upper end of the random part, to the digit', () => {
  equal(isRecorded({ ratio: 0.5 }, undefined, withRandom('80000000000000')), true);
  equal(isRecorded({ ratio: 0.5 }, undefined, withRandom('7fffffffffffff')), false);
  equal(isRecorded({ ratio: 0.25 }, undefined, withRandom('c0000000000000')), true);
  equal(isRecorded({ ratio: 0.25 }, undefined, withRandom('bfffffffffffff')), false);
  equal(isRecorded({ ratio: 1 }, undefined, withRandom('00000000000000')), true);
});

test('a client that says yes gets no more than the ratio gives', () => {
  equal(isRecorded({ ratio: 0.5 }, client(true), withRandom('7fffffffffffff')), false);
});

test('a larger ratio takes every trace of a smaller one', () => {
  const ratio = fc.double({ min: 0.000_001, max: 1, noNaN: true });
  const digits = fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: 14, maxLength: 14 });
  fc.assert(
    fc.property(ratio, ratio, digits, (one, other, random) => {
      const id = withRandom(random.join(''));
      const [small, large] = one < other ? [one, other] : [other, one];
      if (isRecorded({ ratio: small }, undefined, id)) equal(isRecorded({ ratio: large }, undefined, id), true);
    }),
  );
});
