import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const document = readFileSync('docs/phases.md', 'utf8');
const source = readFileSync('src/proxy/phases.ts', 'utf8');

/** The names in the interface of the hooks, in its order. */
function hookNames(): string[] {
  const [, body = ''] = /export interface ProxyHooks<Context> \{\n([^]*?)\n\}/.exec(source) ?? [];
  return Array.from(body.matchAll(/^ {2}(?:readonly )?(\w+)\?(?:\(|:)/gm), ([, name = '']) => name);
}

test('the table of hooks in the document has the hooks that there are', () => {
  const listed = Array.from(document.matchAll(/^\| `(\w+)` \|/gm), ([, name = '']) => name);
  assert.ok(hookNames().length >= 14);
  assert.deepEqual(listed.toSorted(), hookNames().toSorted());
});

test('the picture in the document has a place for every hook', () => {
  const [, picture = ''] = /```mermaid\n([^]*?)```/.exec(document) ?? [];
  for (const name of hookNames()) assert.match(picture, new RegExp(`\\b${name}\\b`));
  assert.match(picture, /\|the next attempt\| selectUpstream/);
});
