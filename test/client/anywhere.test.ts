import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { test } from 'node:test';
import { withoutComments } from '../support/source-text.ts';

const ENTRY = 'src/client/fetch/index.ts';

/** What a source imports when it runs; types are gone by then. */
function runtimeImports(path: string): string[] {
  const code = withoutComments(readFileSync(path, 'utf8'), 'keep');
  const found = code.matchAll(
    /\b(?:import|export)\b(?!\s+type\b)[^;'"]*?\bfrom\s*'([^']*)'|\bimport\s*\(?\s*'([^']*)'/g,
  );
  return [...found].map((match) => match[1] ?? match[2]!);
}

test('nothing that mulligan/fetch loads is from Node, and nothing that it runs needs a global of Node', () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const globals: string[] = [];
  const queue = [ENTRY];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const code = withoutComments(readFileSync(path, 'utf8'), 'blank');
    if (/(?<![.\w])(?:Buffer|process|setImmediate)\s*[.(]/.test(code)) globals.push(path);
    for (const specifier of runtimeImports(path)) {
      if (specifier.startsWith('.')) queue.push(normalize(join(dirname(path), specifier)));
      else packages.add(specifier);
    }
  }
  assert.ok(seen.size > 40, 'the graph was walked');
  // Its one use is for bodies that come piece by piece from a socket; a fetch's response is kept whole.
  assert.deepEqual(globals, ['src/engine/kept-response.ts']);
  assert.deepEqual([...packages], ['structured-headers']);
});
