import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { readExposition } from './exposition.ts';

test('the text format is read with labels, escapes and infinities', () => {
  const read = readExposition(
    '# HELP a_total What.\n# TYPE a_total counter\na_total{x="1\\"",y=""} 3\na_total{x="2"} +Inf\n',
  );
  deepEqual(read.families.get('a_total')?.samples[0], { name: 'a_total', labels: { x: '1\\"', y: '' }, value: 3 });
  equal(read.value('a_total', { x: '2' }), Infinity);
  equal(read.sum('b_total'), 0);
});

const head = '# HELP a What.\n# TYPE a gauge\n';
const histogram = '# HELP h What.\n# TYPE h histogram\n';
const broken: readonly (readonly [string, string, RegExp])[] = [
  ['a sample without a type', 'a 1\n', /before its type/],
  ['a type without help', '# TYPE a gauge\na 1\n', /without help/],
  ['the same series twice', `${head}a{x="1"} 1\na{x="1"} 2\n`, /was there before/],
  ['the same family twice', `${head}a 1\n${head}`, /was there before/],
  ['another name under a type', `${head}b 1\n`, /another family/],
  ['a label without quotes', `${head}a{x=1} 1\n`, /labels/],
  ['a value that is no number', `${head}a one\n`, /not a sample/],
  ['no line break at the end', `${head}a 1`, /line break/],
  ['a histogram that shrinks', `${histogram}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`, /counts/],
  ['a histogram without +Inf', `${histogram}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`, /bounds/],
  ['a histogram whose count differs', `${histogram}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`, /counts/],
];

for (const [what, text, expected] of broken)
  test(`${what} is refused`, () => {
    throws(() => readExposition(text), expected);
  });
