import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyOutcome, needsOtherEndpoint, triggerOf } from '../../src/core/classify.ts';
import type { Failure, FailureKind } from '../../src/core/failure.ts';
import { failed, failure, responded } from './fixtures.ts';

const STATUS_CLASSES: readonly (readonly [number, string])[] = [
  [200, 'ok'],
  [204, 'ok'],
  [302, 'ok'],
  [399, 'ok'],
  [400, 'client'],
  [404, 'client'],
  [407, 'client'],
  [408, 'timeout'],
  [409, 'client'],
  [421, 'unsent'],
  [425, 'unsent'],
  [428, 'client'],
  [429, 'throttled'],
  [430, 'client'],
  [499, 'client'],
  [500, 'server'],
  [502, 'server'],
  [503, 'server'],
  [504, 'timeout'],
  [505, 'server'],
  [599, 'server'],
];

for (const [status, expected] of STATUS_CLASSES) {
  test(`a ${String(status)} response is classed as ${expected}`, () => {
    assert.equal(classifyOutcome(responded(status)), expected);
  });
}

test('a nacked error counts as unsent, and a nack on a success does not make it a failure', () => {
  assert.equal(classifyOutcome(responded(503, { nack: true })), 'unsent');
  assert.equal(classifyOutcome(responded(200, { nack: true })), 'ok');
});

/** What a failure is called, and by which trigger a policy reaches it. */
const FAILURES: readonly (readonly [
  name: string,
  outcomeClass: string,
  trigger: string | undefined,
  Partial<Failure>,
])[] = [
  ['a refused connection', 'unsent', 'unsent', { kind: 'connection_refused', phase: 'connect', bytesSent: 0 }],
  ['a connect timeout', 'unsent', 'unsent', { kind: 'connection_timeout', phase: 'connect', bytesSent: 0 }],
  ['nothing selectable', 'unsent', 'unsent', { kind: 'destination_unavailable', phase: 'select', bytesSent: 0 }],
  ['a failed handshake', 'unsent', 'unsent', { kind: 'tls_protocol_error', phase: 'tls' }],
  ['a bad certificate', 'unsent', 'unsent', { kind: 'tls_certificate_error', phase: 'tls', bytesSent: 0 }],
  [
    'a full pool',
    'unsent',
    'unsent',
    { kind: 'connection_limit_reached', source: 'internal', phase: 'connect', bytesSent: 0 },
  ],
  [
    'an open breaker',
    'short-circuited',
    'unsent',
    { kind: 'circuit_open', source: 'internal', phase: 'select', bytesSent: 0 },
  ],
  ['a refused stream', 'unsent', 'rejected', { kind: 'request_rejected' }],
  ['a stale connection', 'ambiguous', 'stale', { reused: true }],
  ['a reset', 'ambiguous', 'reset', {}],
  ['a connection lost in mid-send', 'ambiguous', 'reset', { phase: 'send' }],
  ['half a head', 'ambiguous', 'reset', { kind: 'http_response_incomplete', phase: 'head', bytesReceived: 30 }],
  ['garbage for a status line', 'ambiguous', 'reset', { kind: 'http_protocol_error', bytesReceived: 30 }],
  ['an invalid head', 'ambiguous', undefined, { kind: 'http_protocol_error', phase: 'head', bytesReceived: 30 }],
  ['an oversize head', 'ambiguous', undefined, { kind: 'http_response_header_section_size', phase: 'head' }],
  ['ambiguous framing', 'ambiguous', undefined, { kind: 'http_response_transfer_coding', phase: 'head' }],
  ['a refused upgrade', 'ambiguous', undefined, { kind: 'http_upgrade_failed' }],
  ['no answer in time', 'timeout', 'timeout', { kind: 'http_response_timeout' }],
  ['no answer in time on a reused connection', 'timeout', 'timeout', { kind: 'http_response_timeout', reused: true }],
  ['a read timeout', 'timeout', 'timeout', { kind: 'connection_read_timeout' }],
  ['a peer that takes no byte', 'timeout', 'timeout', { kind: 'connection_write_timeout', phase: 'send' }],
  [
    'a timeout before the first byte',
    'unsent',
    'unsent',
    { kind: 'connection_write_timeout', phase: 'send', bytesSent: 0 },
  ],
  ['overload', 'ambiguous', 'rejected', { kind: 'overloaded' }],
  ['a demand for HTTP/1.1', 'ambiguous', 'rejected', { kind: 'http_1_1_required' }],
  ['a cut body', 'committed', undefined, { kind: 'http_response_incomplete', phase: 'body' }],
  ['a stalled body', 'committed', undefined, { kind: 'connection_read_timeout', phase: 'body' }],
  ['the overall deadline', 'timeout', undefined, { kind: 'deadline_exceeded', source: 'internal' }],
  ['a client that left', 'cancelled', undefined, { kind: 'downstream_closed', source: 'downstream', bytesSent: 0 }],
  ['a slow uploader', 'cancelled', undefined, { kind: 'downstream_timeout', source: 'downstream', phase: 'send' }],
  ['a client that broke off, whatever it is called', 'cancelled', undefined, { source: 'downstream' }],
];

for (const [name, outcomeClass, trigger, changes] of FAILURES) {
  test(`${name} is classed as ${outcomeClass} and ${trigger === undefined ? 'cannot be named by a policy' : `named ${trigger}`}`, () => {
    assert.equal(classifyOutcome(failed(changes)), outcomeClass);
    assert.equal(triggerOf(failure(changes)), trigger);
  });
}

test('no policy can name a fault of our own, even when nothing was sent', () => {
  const kinds: readonly FailureKind[] = [
    'http_response_header_section_size',
    'http_response_transfer_coding',
    'http_upgrade_failed',
    'http_request_error',
    'http_request_denied',
    'proxy_internal_error',
    'proxy_configuration_error',
    'proxy_loop_detected',
    'deadline_exceeded',
    'downstream_closed',
    'downstream_timeout',
    'downstream_protocol_error',
    'hook_error',
  ];
  for (const kind of kinds)
    assert.equal(triggerOf(failure({ kind, source: 'internal', bytesSent: 0 })), undefined, kind);
});

test('a certificate and a firewall say something about one endpoint only', () => {
  assert.equal(needsOtherEndpoint(failure({ kind: 'tls_certificate_error' })), true);
  assert.equal(needsOtherEndpoint(failure({ kind: 'destination_ip_prohibited' })), true);
  assert.equal(needsOtherEndpoint(failure({ kind: 'connection_refused' })), false);
});
