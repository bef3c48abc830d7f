import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalPath } from '../../src/config/canonical-path.ts';

for (const [path, expected] of [
  ['/', '/'],
  ['/orders/1', '/orders/1'],
  ['/orders/', '/orders/'],
  ['//orders///1', '/orders/1'],
  ['/%6frders/%7Ebob', '/orders/~bob'],
  ['/a%2fb', '/a%2Fb'],
  ['/@scope%2Fname', '/@scope%2Fname'],
  ['/a%25b', '/a%25b'],
  ['/%2565', '/%2565'],
  ['/a;v=1/b', '/a;v=1/b'],
  ['/.well-known/x', '/.well-known/x'],
  ['/...', '/...'],
  ['/a..b/..c', '/a..b/..c'],
  ['/caf%c3%a9', '/caf%C3%A9'],
  ['/a|b"<>', '/a|b"<>'],
] as const) {
  test(`${path} is canonical as ${expected}`, () => deepEqual(canonicalPath(path), { ok: true, path: expected }));
}

for (const path of [
  '',
  'orders',
  '*',
  '/.',
  '/..',
  '/a/../b',
  '/a/./b',
  '/a/%2e%2E/b',
  '/a/.%2e',
  '/a/..;/b',
  '/a/..;x=1',
  '/a%2f..%2fb',
  '/a/..%2fb',
  '/a%5c..%5cb',
  '/a/..%3b/b',
  '/a\\b',
  '/a\0',
  '/a%00',
  '/a b',
  '/a\tb',
  '/caf\u00e9',
  '/a#b',
  '/%',
  '/%zz',
  '/%2',
  '/a\u007f',
]) {
  test(`${JSON.stringify(path)} is refused`, () => equal(canonicalPath(path).ok, false));
}

const paths = fc
  .string({ unit: fc.constantFrom('/', '.', ';', '%', '2', 'e', 'f', 'F', '5', 'c', '3', 'b', 'a', '0', '~') })
  .map((text) => `/${text}`);

test('canonical paths stay as they are', () => {
  fc.assert(
    fc.property(paths, (path) => {
      const once = canonicalPath(path);
      if (once.ok) deepEqual(canonicalPath(once.path), once);
    }),
    { numRuns: 20_000 },
  );
});

test('no reader of a canonical path climbs out of it, whatever it decodes', () => {
  fc.assert(
    fc.property(paths, (path) => {
      const canonical = canonicalPath(path);
      if (!canonical.ok) return;
      const decoded = canonical.path.replace(/%(2f|5c|2e|3b)/gi, (escape) => decodeURIComponent(escape));
      for (const segment of decoded.split(/[/\\]/)) ok(!/^\.{1,2}(;|$)/.test(segment), `${path} → ${canonical.path}`);
      ok(!canonical.path.includes('//'));
    }),
    { numRuns: 20_000 },
  );
});
