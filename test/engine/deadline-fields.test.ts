import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saysDeadline, withDeadline } from '../../src/engine/deadline-fields.ts';
import type { FieldList } from '../../src/http1/message.ts';

const rows: readonly (readonly [string, FieldList, number, boolean, FieldList])[] = [
  ['a callee that speaks the protocol is told', [], 1000, true, ['Request-Timeout', '995']],
  ['another one is not', ['A', 'b'], 1000, false, ['A', 'b']],
  ['what the request says is brought up to date', ['request-timeout', '9000'], 1000, false, ['Request-Timeout', '995']],
  ['in the words of gRPC', ['grpc-timeout', '9S'], 1000.9, false, ['grpc-timeout', '995m']],
  [
    'in those of Envoy',
    ['X-Envoy-Expected-Rq-Timeout-Ms', '9000'],
    1000,
    false,
    ['x-envoy-expected-rq-timeout-ms', '995'],
  ],
  ['eight digits are all that gRPC has', ['grpc-timeout', '1S'], 200_000_005, false, ['grpc-timeout', '200000S']],
  ['there is always a moment left', [], 2, true, ['Request-Timeout', '1']],
  ['without a limit nothing is told, and nothing garbled goes on', ['Request-Timeout', 'soon'], Infinity, false, []],
];
for (const [name, fields, remainingMs, isTold, expected] of rows)
  test(`of the time left: ${name}`, () => assert.deepEqual(withDeadline(fields, remainingMs, 5, isTold), expected));

test('a request says how long its caller waits by any of three names', () => {
  for (const name of ['Request-Timeout', 'GRPC-Timeout', 'x-envoy-expected-rq-timeout-ms'])
    assert.ok(saysDeadline(['A', 'b', name, '']));
  assert.ok(!saysDeadline(['Request-Timeouts', '5']));
});
