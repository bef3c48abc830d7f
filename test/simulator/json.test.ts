import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DataPath } from '../../src/config/fault.ts';
import { jsonErrorOffset } from '../../src/simulator/json-error.ts';
import { jsonOffset } from '../../src/simulator/json-place.ts';

for (const [text, offset] of [
  ['', 0],
  ['[1,]', 3],
  ['{"a" 1}', 5],
  ['{"a":1,}', 7],
  ['[1 2]', 3],
  ['{"a":"b', 5],
  ['[1]]', 3],
  ['[1', 2],
  ['{a:1}', 1],
  ['[01]', 2],
  ['nil', 0],
] as const) {
  test(`${text === '' ? 'an empty text' : text} stops being JSON at ${offset}`, () => {
    assert.throws(() => JSON.parse(text));
    assert.equal(jsonErrorOffset(text), offset);
  });
}

test('a JSON text with one character changed is told to be wrong at or after the change, or right', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom('"', '{', ']', ',', 'x', ':'), (text, place, character) => {
      const at = place % text.length;
      const changed = text.slice(0, at) + character + text.slice(at + 1);
      try {
        JSON.parse(changed);
        assert.equal(jsonErrorOffset(changed), changed.length);
      } catch {
        const offset = jsonErrorOffset(changed);
        assert.ok(offset >= 0 && offset <= changed.length);
        // Nothing after it can matter: the text up to there can be continued to JSON, or the token there cannot.
        assert.throws(() => JSON.parse(changed.slice(0, offset + 1)));
      }
    }),
    { numRuns: 500 },
  );
});

test('every value of a JSON text is found where it stands', () => {
  const walk = function* (value: unknown, path: DataPath): Generator<readonly [DataPath, unknown]> {
    yield [path, value];
    if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* walk(item, [...path, index]);
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) yield* walk(item, [...path, key]);
  };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const data = JSON.parse(text) as unknown;
      for (const [path, part] of walk(data, [])) {
        const written = JSON.stringify(part);
        const found = text.slice(jsonOffset(text, path));
        assert.equal(indent === 0 ? found.slice(0, written.length) : found[0], indent === 0 ? written : written[0]);
      }
    }),
    { numRuns: 200 },
  );
});

test('what is not there is placed at its nearest parent', () => {
  assert.equal(jsonOffset('{"a": [1, 2]}', ['a', 7]), 6);
  assert.equal(jsonOffset('{"a": [1, 2]}', ['b', 'c']), 0);
  assert.equal(jsonOffset('{"a": {}}', ['a', 'c']), 6);
});
