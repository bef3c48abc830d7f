import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure } from '../../src/core/failure.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { circuitVerdict, endpointVerdict, type Verdict } from '../../src/core/verdict.ts';
import { failed, REFUSED, REJECTED, RESET, responded, STALE, TIMED_OUT } from './fixtures.ts';

/** Outcome, what the circuit breaker makes of it, what outlier detection makes of it. */
const rows: readonly (readonly [string, Outcome, Verdict, Verdict])[] = [
  ['200', responded(200), 'success', 'success'],
  ['304', responded(304), 'success', 'success'],
  ['400', responded(400), 'alive', 'alive'],
  ['404', responded(404), 'alive', 'alive'],
  ['408', responded(408), 'alive', 'alive'],
  ['421', responded(421), 'alive', 'alive'],
  ['425', responded(425), 'alive', 'alive'],
  ['429', responded(429), 'alive', 'alive'],
  ['499', responded(499), 'alive', 'alive'],
  ['500', responded(500), 'failure', 'alive'],
  ['501, which speaks about the method', responded(501), 'alive', 'alive'],
  ['502', responded(502), 'failure', 'failure'],
  ['503', responded(503), 'failure', 'failure'],
  ['504', responded(504), 'failure', 'failure'],
  ['505, which speaks about the protocol', responded(505), 'alive', 'alive'],
  ['599', responded(599), 'failure', 'alive'],
  ['503 that is relayed', responded(503, { claim: 'relayed' }), 'alive', 'alive'],
  ['503 that is owned', responded(503, { claim: 'owned' }), 'failure', 'failure'],
  ['500 that is relayed', responded(500, { claim: 'relayed' }), 'alive', 'alive'],
  ['503 with a nack', responded(503, { nack: true }), 'alive', 'alive'],
  ['a refused connection', of(REFUSED), 'failure', 'failure'],
  ['a reset', of(RESET), 'failure', 'failure'],
  ['an attempt timeout', of(TIMED_OUT), 'failure', 'failure'],
  ['a stale connection', of(STALE), 'none', 'none'],
  ['a refused stream', of(REJECTED), 'alive', 'alive'],
  ['overload said by the peer', failed({ kind: 'overloaded' }), 'failure', 'failure'],
  ['a bad certificate', failed({ kind: 'tls_certificate_error', phase: 'tls' }), 'failure', 'failure'],
  ['a body that broke', failed({ kind: 'http_response_incomplete', phase: 'body' }), 'failure', 'failure'],
  ['garbage', failed({ kind: 'http_protocol_error', phase: 'head' }), 'failure', 'failure'],
  ['a head too large', failed({ kind: 'http_response_header_section_size', phase: 'head' }), 'alive', 'alive'],
  [
    'no file descriptor here',
    failed({ kind: 'local_resource_exhausted', source: 'internal', phase: 'connect' }),
    'none',
    'none',
  ],
  [
    'no free connection here',
    failed({ kind: 'connection_limit_reached', source: 'internal', phase: 'select' }),
    'none',
    'none',
  ],
  ['a client that left', failed({ kind: 'downstream_closed', source: 'downstream' }), 'none', 'none'],
];

for (const [name, outcome, circuit, endpoint] of rows) {
  test(`${name}: ${circuit} for the circuit, ${endpoint} for the endpoint`, () => {
    assert.deepEqual([circuitVerdict(outcome), endpointVerdict(outcome)], [circuit, endpoint]);
  });
}

function of(failure: Failure): Outcome {
  return { type: 'failure', failure };
}
