import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { layOut } from '../../../src/simulator/report/graph-layout.ts';
import { mergeValues } from '../../../src/simulator/report/line-plot.ts';
import { markup } from '../../../src/simulator/report/markup.ts';
import { scaleTo, shortTime, timeTicks } from '../../../src/simulator/report/scale.ts';

test('what is put into markup is escaped, once, and markup is not', () => {
  assert.equal(
    markup`<b title="${'"<&\''}">${markup`<i>${['a', 1, '>']}</i>`}</b>`.text,
    '<b title="&quot;&lt;&amp;&#39;"><i>a1&gt;</i></b>',
  );
});

test('a scale has a few round steps from 0, and the highest value is within it', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (highest) => {
      const { top, ticks } = scaleTo(highest, 5);
      assert.ok(top >= highest * (1 - 1e-6) && ticks[0] === 0);
      assert.ok(ticks.length >= 2 && ticks.length <= 12, String(ticks));
      assert.ok(Math.abs(ticks.at(-1)! - top) <= top * 1e-9);
    }),
  );
  assert.deepEqual(scaleTo(560, 5).ticks, [0, 200, 400, 600]);
});

test('times on an axis are round, begin at 0 and do not run into each other', () => {
  assert.deepEqual(timeTicks(60_000), [0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
  assert.deepEqual([0, 500, 10_000, 180_000, 7_200_000].map(shortTime), ['0 s', '500 ms', '10 s', '3 min', '2 h']);
  for (const endMs of [1, 90, 5000, 90_000, 600_000, 3_600_000, 2 ** 31]) {
    const ticks = timeTicks(endMs);
    assert.ok(ticks.length >= 1 && ticks.length <= 12 && ticks.at(-1)! <= endMs, `${endMs}: ${String(ticks)}`);
  }
});

test('fewer points keep the mean', () => {
  assert.deepEqual(mergeValues([1, 3, 5, 7, 9], 2), [2, 6, 9]);
  assert.deepEqual(mergeValues([1, 2], 1), [1, 2]);
});

test('an operation stands to the right of everything that calls it, and no two in one place', () => {
  const edge = fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 11 }));
  fc.assert(
    fc.property(fc.array(edge, { maxLength: 40 }), (pairs) => {
      const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
      const edges = pairs.flatMap(([a, b]) => (a < b ? [{ from: names[a], to: names[b]! }] : []));
      const { nodes } = layOut(names, [...edges, { from: undefined, to: 's0' }]);
      const columns = new Map(nodes.map(({ name, column }) => [name, column]));
      assert.deepEqual(nodes.map(({ name }) => name).toSorted(), names.toSorted());
      for (const { from, to } of edges) assert.ok(columns.get(from!)! < columns.get(to)!);
      assert.equal(new Set(nodes.map(({ column, row }) => `${column} ${row}`)).size, names.length);
    }),
  );
});

test('calls that need not cross do not', () => {
  const layout = layOut(
    ['a', 'b', 'x', 'y'],
    [
      { from: 'a', to: 'y' },
      { from: 'b', to: 'x' },
    ],
  );
  const row = (name: string): number => layout.nodes.find((node) => node.name === name)!.row;
  assert.equal(row('a') < row('b'), row('y') < row('x'));
});
