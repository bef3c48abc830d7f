import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { anchors, codeBlocks, links } from './support/markdown.ts';
import type { CodeBlock } from './support/markdown.ts';

const documents = [...globSync('*.md'), ...globSync('docs/**/*.md')].sort();
const read = (path: string): string => readFileSync(path, 'utf8');

/** A folder as a reader's would be: `mulligan` is a command there and a package. */
function readersFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-docs-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'mulligan'));
  mkdirSync(join(folder, 'bin'));
  const command = join(folder, 'bin', 'mulligan');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/cli/main.ts')}' "$@"\n`);
  chmodSync(command, 0o755);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
  return folder;
}

function runBlock(block: CodeBlock, folder: string): { readonly code: number | null; readonly output: string } {
  const path = [join(folder, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const options = { cwd: folder, encoding: 'utf8', timeout: 60_000, env: { ...process.env, PATH: path } } as const;
  const quiet = '--disable-warning=ExperimentalWarning';
  if (block.language === 'ts') writeFileSync(join(folder, 'block.ts'), block.text);
  const run =
    block.language === 'ts'
      ? spawnSync(process.execPath, [quiet, 'block.ts'], options)
      : spawnSync('bash', ['-euo', 'pipefail', '-c', block.text], options);
  return { code: run.status, output: `${run.stdout}${run.stderr}` };
}

for (const document of documents) {
  const text = read(document);

  test(`every link in ${document} leads to a file or heading that exists`, () => {
    for (const { target, line } of links(text)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      assert.ok(existsSync(file), `${document}:${line}: ${target} does not exist`);
      if (anchor !== undefined)
        assert.ok(anchors(read(file)).includes(anchor), `${document}:${line}: no heading #${anchor}`);
    }
  });

  const blocks = codeBlocks(text);
  if (blocks.some((block) => block.run)) {
    test(`the marked examples of ${document} run`, () => {
      const folder = readersFolder();
      try {
        for (const block of blocks) {
          if (block.file !== undefined) writeFileSync(join(folder, block.file), block.text);
          if (!block.run) continue;
          assert.ok(
            ['sh', 'ts'].includes(block.language),
            `${document}:${block.line}: only sh and ts blocks can be run`,
          );
          const { code, output } = runBlock(block, folder);
          assert.equal(code, 0, `${document}:${block.line} ended with ${code}:\n${output}`);
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
}

test('the README has at most 200 lines and at least one example that is run', () => {
  const readme = read('README.md');
  assert.ok(readme.split('\n').length <= 201);
  assert.ok(codeBlocks(readme).some((block) => block.run));
});

test('marked blocks, links and headings are found in a document', () => {
  const text =
    '# One `two`\n[a](b.md#x) `[no](no.md)`\n<!-- file: g.yaml -->\n```yaml\na: 1\n```\n\n<!-- run -->\n```sh\ntrue\n```\n```sh\n[no](no.md)\n```\n';
  assert.deepEqual(
    codeBlocks(text).map(({ language, text: code, line, run, file }) => [language, code, line, run, file]),
    [
      ['yaml', 'a: 1\n', 4, false, 'g.yaml'],
      ['sh', 'true\n', 9, true, undefined],
      ['sh', '[no](no.md)\n', 12, false, undefined],
    ],
  );
  assert.deepEqual(links(text), [{ target: 'b.md#x', line: 2 }]);
  assert.deepEqual(anchors(text), ['one-two']);
});

test('an example that fails is noticed', () => {
  const folder = readersFolder();
  try {
    const block = { language: 'sh', text: 'false\ntrue\n', line: 1, run: true, file: undefined };
    assert.equal(runBlock(block, folder).code, 1);
    assert.equal(runBlock({ ...block, language: 'ts', text: 'throw new Error("x");' }, folder).code, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
