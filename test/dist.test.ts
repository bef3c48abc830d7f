import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { exportedNames, publicEntries } from '../scripts/entries.ts';
import { createConsumer } from './support/consumer.ts';
import type { Consumer } from './support/consumer.ts';

let consumer: Consumer;
before(() => {
  consumer = createConsumer();
});
after(() => consumer.remove());

const tsc = resolve('node_modules/typescript/bin/tsc');

test('the package holds what a user needs and nothing of the workshop', () => {
  const files = globSync('**/*', { cwd: consumer.packageFolder });
  for (const needed of [
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'SECURITY.md',
    'config.schema.json',
    'dist/cli/main.js',
  ]) {
    assert.ok(files.includes(needed), `${needed} is missing`);
  }
  const stray = /(^|\/)(test|bench|scripts|\.build|node_modules)(\/|$)|tsconfig|\.tsbuildinfo$|^api\//;
  assert.deepEqual(
    files.filter((file) => stray.test(file)),
    [],
  );
});

for (const { specifier, source } of publicEntries()) {
  test(`${specifier} is imported from the packed package with all its names`, () => {
    const program = `import * as entry from '${specifier}'; console.log(JSON.stringify(Object.keys(entry).sort()));`;
    const { code, stdout, stderr } = consumer.node('--input-type=module', '--eval', program);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), exportedNames(readFileSync(source, 'utf8')).values);
  });
}

test('the JSON Schema is imported from the packed package', () => {
  const program = `import schema from 'mulligan/config.schema.json' with { type: 'json' }; console.log(schema.$schema);`;
  const { code, stdout, stderr } = consumer.node(
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    program,
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /json-schema\.org/);
});

test('a file that is no entry cannot be imported', () => {
  const program = `await import('mulligan/dist/core/decide.js')`;
  const { code, stderr } = consumer.node('--input-type=module', '--eval', program);
  assert.equal(code, 1);
  assert.match(stderr, /ERR_PACKAGE_PATH_NOT_EXPORTED/);
});

test('the packed command prints its help', () => {
  const { code, stdout, stderr } = consumer.node(join(consumer.packageFolder, 'dist/cli/main.js'), '--help');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Usage: mulligan/);
});

test('the packed command can be started by its name', () => {
  const firstLine = readFileSync(join(consumer.packageFolder, 'dist/cli/main.js'), 'utf8').split('\n', 1)[0];
  assert.equal(firstLine, '#!/usr/bin/env node');
});

test("a strict consumer's TypeScript accepts every entry's types, libraries checked too", () => {
  consumer.link('@types/node');
  consumer.link('undici-types');
  const imports = publicEntries().map(({ specifier }, index) => `import * as entry${index} from '${specifier}';`);
  const uses = imports.map((_, index) => `entry${index}`).join(', ');
  const file = consumer.write('consumer.ts', `${imports.join('\n')}\nexport const used: unknown[] = [${uses}];\n`);
  const options = '--noEmit --strict --exactOptionalPropertyTypes --target es2024 --module nodenext --types node'.split(
    ' ',
  );
  const { code, stdout } = consumer.node(tsc, ...options, file);
  assert.equal(code, 0, stdout);
});

test('every source map points at a source in the package', () => {
  const maps = globSync('dist/**/*.js.map', { cwd: consumer.packageFolder });
  assert.ok(maps.length > 0);
  for (const map of maps) {
    const path = join(consumer.packageFolder, map);
    const { sources } = JSON.parse(readFileSync(path, 'utf8')) as { readonly sources: readonly string[] };
    for (const source of sources) assert.ok(existsSync(resolve(dirname(path), source)), `${map} -> ${source}`);
  }
});
