import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResponseFacts } from '../../src/engine/response-facts.ts';
import type { FieldList, ResponseHead } from '../../src/http1/message.ts';

const head = (fields: FieldList): ResponseHead => ({
  versionMinor: 1,
  status: 503,
  reason: '',
  fields,
  bodyKind: 'none',
  contentLength: -1,
  keepAlive: true,
  keepAliveTimeoutMs: -1,
});

const waits: readonly (readonly [string, FieldList, number | undefined])[] = [
  ['one field', ['Retry-After', '2'], 2_000],
  ['the longer one first', ['Retry-After', '7', 'retry-after', '2'], 7_000],
  ['the longer one last', ['Retry-After', '2', 'Retry-After', '7'], 7_000],
  ['one that cannot be read', ['Retry-After', 'soon', 'Retry-After', '3'], 3_000],
  ['none that can be read', ['Retry-After', 'soon', 'Retry-After', 'later'], undefined],
];

for (const [what, fields, expectedMs] of waits) {
  test(`Retry-After, ${what}: nobody comes back before the longest wait`, () => {
    assert.equal(readResponseFacts(head(fields), { codes: new Set([503]) }, 0).retryAfterMs, expectedMs);
  });
}
