import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const examples = globSync('examples/*.ts').sort();

/** The comment at the end of an example says what it prints. */
const PRINTS = /\n\/\/ Prints:\n((?:\/\/ .*\n)+)$/;

describe('the examples', () => {
  test('are there', () => assert.ok(examples.length >= 6));

  for (const path of examples) {
    const text = readFileSync(path, 'utf8');

    test(`${path} prints what its last comment says`, async () => {
      const expected = PRINTS.exec(text)?.[1];
      assert.ok(expected !== undefined, `${path} does not end with a comment "// Prints:" and lines`);
      // A program that does not end by itself left something open.
      const { stdout, stderr } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', path], {
        timeout: 60_000,
      });
      assert.equal(stderr, '');
      assert.equal(stdout, expected.replaceAll(/^\/\/ /gm, ''));
    });

    test(`${path} is short, uses the public package only, and is named where readers look`, () => {
      assert.ok(text.split('\n').length <= 61, `${path} has more than 60 lines`);
      for (const [, from = ''] of text.matchAll(/ from '([^']+)'/g)) assert.match(from, /^(?:node:|mulligan)/);
      assert.ok(readFileSync('docs/phases.md', 'utf8').includes(`../${path})`), `docs/phases.md does not link ${path}`);
    });
  }
});
