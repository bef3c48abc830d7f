import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readTraceparent, writeTraceparent } from '../../src/telemetry/trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

test('a traceparent is read', () => {
  deepEqual(readTraceparent([`00-${traceId}-${spanId}-01`]), { traceId, spanId, sampled: true });
  deepEqual(readTraceparent([`00-${traceId}-${spanId}-00`]), { traceId, spanId, sampled: false });
});

test('of the flags only the sampled one is read', () => {
  equal(readTraceparent([`00-${traceId}-${spanId}-fe`])?.sampled, false);
  equal(readTraceparent([`00-${traceId}-${spanId}-03`])?.sampled, true);
});

test('of a later version, what version 00 says is read', () => {
  deepEqual(readTraceparent([`cc-${traceId}-${spanId}-01-what-the-future-holds`]), { traceId, spanId, sampled: true });
});

const malformed: readonly (readonly [string, readonly string[]])[] = [
  ['none', []],
  ['an empty one', ['']],
  ['two', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
  ['two in one line', [`00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`]],
  ['version ff', [`ff-${traceId}-${spanId}-01`]],
  ['version 00 with more', [`00-${traceId}-${spanId}-01-more`]],
  ['a later version with more, unseparated', [`cc-${traceId}-${spanId}-01more`]],
  ['a trace id of zeros', [`00-${'0'.repeat(32)}-${spanId}-01`]],
  ['a span id of zeros', [`00-${traceId}-${'0'.repeat(16)}-01`]],
  ['capitals', [`00-${traceId.toUpperCase()}-${spanId}-01`]],
  ['a short trace id', [`00-${traceId.slice(1)}-${spanId}-01`]],
  ['a long span id', [`00-${traceId}-${spanId}0-01`]],
  ['no flags', [`00-${traceId}-${spanId}`]],
  ['no hexadecimal digits', [`00-${traceId}-${spanId}-0g`]],
];

for (const [what, values] of malformed)
  test(`${what} counts as no traceparent`, () => equal(readTraceparent(values), undefined));

test('what is written is read again', () => {
  const hex = (length: number): fc.Arbitrary<string> =>
    fc
      .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
      .map((digits) => digits.join(''))
      .filter((text) => !/^0+$/.test(text));
  fc.assert(
    fc.property(fc.record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() }), (context) => {
      deepEqual(readTraceparent([writeTraceparent(context)]), { ...context });
    }),
  );
});

test('no text makes the reader throw', () => {
  fc.assert(fc.property(fc.array(fc.string()), (values) => void readTraceparent(values)));
});
