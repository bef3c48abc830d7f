import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeClassOfGrpcStatus } from '../../../src/core/ownership/grpc-status.ts';
import { isOwnershipFailure } from '../../../src/core/ownership/outbound.ts';

const CLASSES = [
  ['OK', 0, 'ok'],
  ['CANCELLED', 1, 'cancelled'],
  ['UNKNOWN', 2, 'server'],
  ['INVALID_ARGUMENT', 3, 'client'],
  ['DEADLINE_EXCEEDED', 4, 'timeout'],
  ['NOT_FOUND', 5, 'client'],
  ['ALREADY_EXISTS', 6, 'client'],
  ['PERMISSION_DENIED', 7, 'client'],
  ['RESOURCE_EXHAUSTED', 8, 'throttled'],
  ['FAILED_PRECONDITION', 9, 'client'],
  ['ABORTED', 10, 'server'],
  ['OUT_OF_RANGE', 11, 'client'],
  ['UNIMPLEMENTED', 12, 'client'],
  ['INTERNAL', 13, 'server'],
  ['UNAVAILABLE', 14, 'server'],
  ['DATA_LOSS', 15, 'server'],
  ['UNAUTHENTICATED', 16, 'client'],
] as const;

for (const [name, status, expected] of CLASSES) {
  test(`the gRPC status ${name} is of the class ${expected}`, () => {
    assert.equal(outcomeClassOfGrpcStatus(status), expected);
  });
}

test('what is no status of gRPC is a failure of the server', () => {
  for (const status of [17, -1, 1.5, Number.NaN, Infinity]) assert.equal(outcomeClassOfGrpcStatus(status), 'server');
});

test("the client's own faults and what it cancelled concern no owner", () => {
  const concerned = CLASSES.filter(([, status]) => isOwnershipFailure(outcomeClassOfGrpcStatus(status)));
  assert.deepEqual(
    concerned.map(([name]) => name),
    ['UNKNOWN', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'ABORTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
  );
});
