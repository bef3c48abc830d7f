import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, faultsOf, withRoute } from './support.ts';

test('a route says nothing about repeats unless its file does', () => {
  deepEqual(configOf(withRoute('connect: false')).routes[0]!.idempotent, false);
  deepEqual(configOf(withRoute('idempotent: true')).routes[0]!.idempotent, true);
});

for (const [what, text, expected] of [
  ['a word that is no boolean', 'idempotent: maybe', ['8:17 routes[0].idempotent: must be true or false, not "maybe"']],
  [
    'a word about repeats on a route that repeats nothing',
    'idempotent: true\nretry: { attempts: 0 }',
    [
      '8:5 warning: routes[0].idempotent: has no effect: retry.attempts is 0, and there is no hedge (nothing is sent twice on this route)',
    ],
  ],
  ['that word where copies are sent', 'idempotent: true\nretry: { attempts: 0 }\nhedge: { delay: 1s }', []],
] as const) {
  test(`${what} is ${expected.length === 0 ? 'fine' : 'told with its place'}`, () =>
    deepEqual(faultsOf(withRoute(text)), expected));
}
