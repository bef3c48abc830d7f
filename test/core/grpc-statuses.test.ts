import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GRPC_STATUSES, grpcStatusNumber, parseGrpcStatus, rulingOnGrpcStatus } from '../../src/core/grpc-statuses.ts';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import type { RetryPolicyOptions } from '../../src/core/retry-policy.ts';
import type { RequestFacts } from '../../src/core/request.ts';
import { decideOn, EAGER, GET, POST, responded, verdict } from './fixtures.ts';

const named: RetryPolicyOptions = { ...EAGER, grpcStatuses: ['unavailable', 'resource-exhausted'] };
const { grpcStatuses = new Set<number>() } = createRetryPolicy(named);

/** A call's end as a host reports it under that policy. */
function ended(grpcStatus: number, request: RequestFacts, status = 200): string {
  const outcome = responded(status, { grpcStatus, ruling: rulingOnGrpcStatus(grpcStatus, grpcStatuses) });
  const decision = decideOn(outcome, { policy: named, request });
  return decision.type === 'retry' ? 'retry' : verdict(decision);
}

const keyedPost: RequestFacts = { ...POST, keyed: true };

for (const [what, expected, status, request] of [
  ['a named status of a keyed POST', 'retry', 14, keyedPost],
  ['another named status', 'retry', 8, keyedPost],
  ['a named status of a GET', 'retry', 14, GET],
  ['a named status of a POST without a key: nothing proves that the work was not done', 'not-idempotent', 14, POST],
  ['a status that is not named', 'success', 13, keyedPost],
  ['a good end', 'success', 0, keyedPost],
] as const) {
  test(`${what}: ${expected}`, () =>
    assert.equal(ended(status, request).startsWith(expected), true, ended(status, request)));
}

test('numbers are those of google.rpc.Code', () => {
  const names = ['cancelled', 'deadline-exceeded', 'resource-exhausted', 'unavailable', 'unauthenticated'] as const;
  assert.deepEqual(names.map(grpcStatusNumber), [1, 4, 8, 14, 16]);
});

test('a field that is no status says nothing', () => {
  for (const text of ['', '014', '-1', '14 ', '1.0', '100', 'UNAVAILABLE'])
    assert.equal(parseGrpcStatus(text), undefined, text);
  assert.equal(parseGrpcStatus('14'), 14);
  assert.equal(parseGrpcStatus('0'), 0);
});

test('a policy refuses a status that does not exist, and success', () => {
  for (const name of ['unavailible', 'ok'])
    assert.throws(
      () => createRetryPolicy({ grpcStatuses: [name as 'unavailable'] }),
      /grpcStatuses is '\w+'; give one of cancelled/,
    );
});

test('whatever is named, a status that is not is never a reason, and a POST without a key is never sent twice', () => {
  fc.assert(
    fc.property(
      fc.subarray([...GRPC_STATUSES], { minLength: 1 }),
      fc.integer({ min: 0, max: 16 }),
      fc.boolean(),
      (statuses, status, keyed) => {
        const policy = createRetryPolicy({ ...EAGER, grpcStatuses: statuses });
        const ruling = rulingOnGrpcStatus(status, policy.grpcStatuses!);
        const decision = decideOn(responded(200, { grpcStatus: status, ruling }), {
          policy: { ...EAGER, grpcStatuses: statuses },
          request: { ...POST, keyed },
        });
        const isNamed = statuses.some((name) => grpcStatusNumber(name) === status);
        assert.equal(decision.type === 'retry', isNamed && keyed);
      },
    ),
  );
});
