import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure, FailureKind } from '../../src/core/failure.ts';
import { withErrorClaim } from '../../src/engine/error-claim.ts';
import { claimOf, type CallEnding } from '../../src/proxy/exchange/answer-claim.ts';

const GET = { method: 'GET', keyed: false, lineage: 0, deadlineAtMs: Infinity };
const POST = { ...GET, method: 'POST' };

const failureOf = (kind: FailureKind, more: Partial<Failure> = {}): Failure => ({
  kind,
  source: 'upstream',
  phase: 'wait',
  reused: false,
  bytesSent: 10,
  bytesReceived: 0,
  ...more,
});

function died(failure: Failure, handled: boolean): CallEnding {
  return { outcome: { type: 'failure', failure }, claim: undefined, handled };
}

const unsent = { phase: 'connect', bytesSent: 0 } as const;
const ours = { source: 'internal', phase: 'select', bytesSent: 0 } as const;

/** What happened, what the client gets, and the claim. */
const rows: readonly (readonly [string, typeof GET, number, Failure | undefined, boolean | undefined, string])[] = [
  [
    'nobody could be connected to, twice',
    POST,
    502,
    failureOf('connection_refused', unsent),
    true,
    'relayed;why=unsent;hops=1',
  ],
  [
    'nobody could, and nothing is retried here',
    GET,
    502,
    failureOf('connection_refused', unsent),
    false,
    'owned;why=unsent;hops=1;kept',
  ],
  [
    'the upstream said nothing, and was asked twice',
    GET,
    504,
    failureOf('http_response_timeout'),
    true,
    'relayed;why=timeout;hops=1',
  ],
  [
    'the upstream said nothing to what must not run twice',
    POST,
    504,
    failureOf('http_response_timeout'),
    false,
    'owned;why=timeout;retry=never;hops=1;kept;effect=maybe',
  ],
  ['the circuit is open', POST, 503, failureOf('circuit_open', ours), true, 'relayed;why=breaker;hops=1'],
  ['time was up while it was asked', GET, 504, failureOf('deadline_exceeded'), true, 'relayed;why=timeout;hops=1'],
  [
    'time was up before anybody was asked',
    GET,
    504,
    failureOf('deadline_exceeded', ours),
    undefined,
    'owned;why=timeout;hops=0',
  ],
  [
    'no file descriptors are left',
    POST,
    503,
    failureOf('local_resource_exhausted', ours),
    false,
    'owned;why=overload;retry=other;hops=0',
  ],
  ['a filter failed', GET, 500, failureOf('hook_error', ours), undefined, 'owned;why=local;hops=0'],
  ['there was no upstream to ask', GET, 503, undefined, undefined, 'owned;why=local;hops=0'],
];
for (const [name, request, status, failure, handled, expected] of rows) {
  test(`of an answer of its own, where ${name}: ${expected}`, () => {
    const call = failure === undefined || handled === undefined ? undefined : died(failure, handled);
    const claim = claimOf({ status, fields: [], failure, call, request });
    assert.ok(claim !== undefined);
    assert.equal(withErrorClaim([], claim, { alias: false, identity: false })[1], expected);
  });
}

for (const status of [200, 304, 400, 404, 405, 413, 431])
  test(`an answer of ${status} claims nothing`, () => {
    assert.equal(claimOf({ status, fields: [], failure: undefined, call: undefined, request: GET }), undefined);
  });
