import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { exportedNames, publicEntries } from '../scripts/entries.ts';

// api/exports.txt is the list of public names, one a line, that a reviewer reads; `npm run api -- --update` writes it.
const recorded = readFileSync('api/exports.txt', 'utf8')
  .split('\n')
  .filter((line) => line !== '');

for (const { specifier, source } of publicEntries()) {
  test(`${specifier} exports the recorded names and no other`, () => {
    assert.ok(existsSync(source), `${source} is the entry behind ${specifier}`);
    const { values, types } = exportedNames(readFileSync(source, 'utf8'));
    const actual = [
      ...values.map((name) => `${specifier} ${name}`),
      ...types.map((name) => `${specifier} type ${name}`),
    ];
    const expected = recorded.filter((line) => line.startsWith(`${specifier} `));
    assert.deepEqual(actual, expected);
  });

  test(`${specifier} has at run time the values that its text exports`, async () => {
    const module = (await import(pathToFileURL(source).href)) as Record<string, unknown>;
    assert.deepEqual(Object.keys(module).sort(), exportedNames(readFileSync(source, 'utf8')).values);
    for (const [name, value] of Object.entries(module)) assert.notEqual(value, undefined, name);
  });
}

test('no name is recorded for an entry that does not exist', () => {
  const specifiers = new Set(publicEntries().map(({ specifier }) => specifier));
  assert.deepEqual(
    recorded.filter((line) => !specifiers.has(line.split(' ', 1)[0] ?? '')),
    [],
  );
});

test('the names of an entry are read from its export statements, types apart', () => {
  const text = `/** A door. */\nexport { b, a as c } from './x.ts';\nexport type {\n  T,\n} from './y.ts';\nexport { type U, d } from './z.ts'; // end\n`;
  assert.deepEqual(exportedNames(text), { values: ['b', 'c', 'd'], types: ['T', 'U'] });
});

test('an entry that holds anything but written-out exports is refused', () => {
  for (const text of [`export * from './x.ts';`, 'export const a = 5;', `import './x.ts';`, `export { a };`]) {
    assert.throws(() => exportedNames(`export { z } from './z.ts';\n${text}\n`), /an entry may only hold/, text);
  }
});
