import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure } from '../../src/core/failure.ts';
import { classifyFailure, classifyResponse, isIdempotent, isSafeForAnyMethod } from '../../src/core/safety.ts';
import { failure } from './fixtures.ts';

const FAILURES: readonly (readonly [name: string, expected: string, changes: Partial<Failure>])[] = [
  ['no endpoint could be selected', 'unsent', { kind: 'destination_unavailable', phase: 'select', bytesSent: 0 }],
  ['the breaker was open', 'unsent', { kind: 'circuit_open', source: 'internal', phase: 'select', bytesSent: 0 }],
  ['the pool was full', 'unsent', { kind: 'connection_limit_reached', phase: 'connect', bytesSent: 0 }],
  ['sockets ran out', 'unsent', { kind: 'local_resource_exhausted', phase: 'connect', bytesSent: 0 }],
  ['the name did not resolve', 'unsent', { kind: 'dns_error', phase: 'connect', bytesSent: 0 }],
  ['the connection was refused', 'unsent', { kind: 'connection_refused', phase: 'connect', bytesSent: 0 }],
  ['the address was unreachable', 'unsent', { kind: 'destination_ip_unroutable', phase: 'connect', bytesSent: 0 }],
  ['the connect timed out', 'unsent', { kind: 'connection_timeout', phase: 'connect', bytesSent: 0 }],
  ['TLS failed, handshake bytes and all', 'unsent', { kind: 'tls_protocol_error', phase: 'tls', bytesSent: 300 }],
  ['a connection was lost while connecting', 'unsent', { phase: 'connect', bytesSent: 7 }],
  ['selection failed with a nonsense count', 'unsent', { phase: 'select', bytesSent: 7 }],
  ['a pooled connection had closed before the first byte', 'unsent', { phase: 'send', reused: true, bytesSent: 0 }],
  ['a rejection came with the request sent', 'rejected', { kind: 'request_rejected' }],
  ['a rejection came with no byte sent', 'rejected', { kind: 'request_rejected', bytesSent: 0 }],
  ['a reused connection closed with no answer', 'stale', { reused: true }],
  [
    'a reused connection ended an answer that had not begun',
    'stale',
    { reused: true, kind: 'http_response_incomplete' },
  ],
  ['a reused connection was reset in mid-send', 'stale', { reused: true, phase: 'send' }],
  ['a reused connection closed after one byte', 'ambiguous', { reused: true, bytesReceived: 1 }],
  ['a reused connection fell silent', 'ambiguous', { reused: true, kind: 'http_response_timeout' }],
  [
    'a reused connection stopped reading',
    'ambiguous',
    { reused: true, phase: 'send', kind: 'connection_write_timeout' },
  ],
  ['a reused connection sent garbage', 'ambiguous', { reused: true, kind: 'http_protocol_error', bytesReceived: 9 }],
  ['a new connection closed with no answer', 'ambiguous', {}],
  ['one byte had been sent', 'ambiguous', { phase: 'send', bytesSent: 1 }],
  ['the attempt timed out', 'ambiguous', { kind: 'http_response_timeout' }],
  ['half a head came', 'ambiguous', { kind: 'http_response_incomplete', phase: 'head', bytesReceived: 20 }],
  ['overload was signalled', 'ambiguous', { kind: 'overloaded' }],
  ['overload was signalled before the first byte', 'unsent', { kind: 'overloaded', phase: 'send', bytesSent: 0 }],
  ['HTTP/1.1 was asked for', 'ambiguous', { kind: 'http_1_1_required' }],
  ['the count of bytes sent is not a number', 'ambiguous', { bytesSent: NaN }],
  ['the count of bytes sent is negative', 'ambiguous', { bytesSent: -1 }],
  ['the body was cut', 'answered', { kind: 'http_response_incomplete', phase: 'body', bytesReceived: 500 }],
];

for (const [name, expected, changes] of FAILURES) {
  test(`a failure is ${expected} when ${name}`, () => {
    assert.equal(classifyFailure(failure(changes)), expected);
  });
}

test('a response is an answer, whatever its status', () => {
  for (const status of [200, 304, 400, 404, 408, 420, 422, 424, 426, 429, 500, 503]) {
    assert.equal(classifyResponse({ status }), 'answered');
  }
});

test('a response is a rejection when it is 421, 425 or carries a nack', () => {
  assert.equal(classifyResponse({ status: 421 }), 'rejected');
  assert.equal(classifyResponse({ status: 425 }), 'rejected');
  assert.equal(classifyResponse({ status: 503, nack: true }), 'rejected');
  assert.equal(classifyResponse({ status: 503, nack: false }), 'answered');
});

test('seven methods are idempotent, in capitals only', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'QUERY']) {
    assert.equal(isIdempotent(method), true, method);
    assert.equal(isIdempotent(method.toLowerCase()), false, method.toLowerCase());
  }
  for (const method of ['POST', 'PATCH', 'CONNECT', 'LINK', '', 'constructor', '__proto__']) {
    assert.equal(isIdempotent(method), false, method);
  }
});

test('only what was not sent or was rejected is safe for every method', () => {
  assert.equal(isSafeForAnyMethod('unsent'), true);
  assert.equal(isSafeForAnyMethod('rejected'), true);
  assert.equal(isSafeForAnyMethod('stale'), false);
  assert.equal(isSafeForAnyMethod('ambiguous'), false);
  assert.equal(isSafeForAnyMethod('answered'), false);
});
