import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { attemptWords, requestWords } from '../../src/telemetry/request-spans.ts';
import type { TracedAttempt, TracedRecord } from '../../src/telemetry/traced-request.ts';

function attempt(more: Partial<TracedAttempt> = {}): TracedAttempt {
  return {
    upstream: 'main',
    endpoint: '127.0.0.1:9001',
    reused: false,
    waitMs: 0,
    durationMs: 1,
    free: false,
    ...more,
  };
}

function record(more: Partial<TracedRecord> = {}): TracedRecord {
  return {
    method: 'GET',
    path: '/orders/1',
    host: 'shop.example:8080',
    protocol: '1.1',
    route: 'orders',
    upstream: 'main',
    status: 200,
    flags: [],
    reason: 'success',
    truncated: false,
    durationMs: 5,
    retryAttempts: 0,
    retryBackoff: 0,
    error: undefined,
    attempts: [attempt({ status: 200 })],
    ...more,
  };
}

function requestOf(more: Partial<TracedRecord>, failure?: string) {
  const { name, attributes, error } = requestWords(record(more), false, failure);
  return {
    name,
    isError: error !== undefined,
    type: attributes['error.type'],
    status: attributes['http.response.status_code'],
    attributes,
  };
}

function attemptOf(
  attempts: readonly TracedAttempt[],
  index: number,
  more: Partial<TracedRecord> = {},
  failure?: string,
) {
  const { name, attributes, error } = attemptWords(record({ attempts, ...more }), index, '/orders/1', failure);
  return { name, isError: error !== undefined, type: attributes['error.type'], attributes };
}

test('a client error is not an error of the request’s span', () => {
  const { isError, type, status } = requestOf({ status: 404 });
  deepEqual([isError, type, status], [false, undefined, 404]);
});

test('a server error that was delivered is named by its status', () => {
  const { isError, type } = requestOf({ status: 503 });
  deepEqual([isError, type], [true, '503']);
});

test('an answer of our own is named by the failure behind it', () => {
  const { isError, type } = requestOf({ status: 502, error: 'refused' }, 'connection_refused');
  deepEqual([isError, type], [true, 'connection_refused']);
});

test('user code that threw is named so', () => {
  equal(requestOf({ status: 500, error: 'TypeError: x' }).type, 'hook_error');
});

test('a response that broke is an error although its status was fine', () => {
  const { isError, type, status, attributes } = requestOf({ truncated: true }, 'http_response_incomplete');
  deepEqual([isError, type, status, attributes['mulligan.truncated']], [true, 'http_response_incomplete', 200, true]);
  equal(
    attemptOf([attempt({ status: 200 })], 0, { truncated: true }, 'http_response_incomplete').type,
    'http_response_incomplete',
  );
});

test('of two answered attempts, the one whose response was delivered is the one that broke', () => {
  const attempts = [attempt({ status: 503 }), attempt({ status: 200 })];
  const types = [0, 1].map((index) => attemptOf(attempts, index, { truncated: true }, 'connection_terminated').type);
  deepEqual(types, ['503', 'connection_terminated']);
});

test('a client that left before an answer got no status, and that is no error of ours', () => {
  const { isError, type, status } = requestOf({ status: 499, flags: ['DC'] });
  deepEqual([isError, type, status], [false, 'downstream_closed', undefined]);
});

test('an attempt that was given up is cancelled', () => {
  const { isError, type } = attemptOf([attempt()], 0, { status: 499, flags: ['DC'] });
  deepEqual([isError, type], [true, 'cancelled']);
});

test('a copy that another one overtook is no error', () => {
  const { isError, type, attributes } = attemptOf(
    [attempt({ superseded: true }), attempt({ hedge: true, status: 200 })],
    0,
  );
  deepEqual([isError, type, attributes['mulligan.superseded']], [false, undefined, true]);
});

test('for its sender, 4xx is an error', () => {
  const { isError, type } = attemptOf([attempt({ status: 429 })], 0);
  deepEqual([isError, type], [true, '429']);
});

test('only sends after the first one count as sent again', () => {
  const attempts = [
    attempt({ status: 503 }),
    attempt({ status: 503, waitMs: 12 }),
    attempt({ status: 200, free: true }),
  ];
  const said = attempts.map((_one, index) => {
    const { attributes } = attemptOf(attempts, index);
    return ['http.request.resend_count', 'mulligan.wait_ms', 'mulligan.free', 'mulligan.stop_reason'].map(
      (name) => attributes[name],
    );
  });
  deepEqual(said, [
    [undefined, undefined, undefined, undefined],
    [1, 12, undefined, undefined],
    [2, undefined, true, 'success'],
  ]);
});

test('a method that nobody knows makes no name of its own', () => {
  const { name, attributes } = requestOf({ method: 'BREW' });
  equal(name, 'HTTP orders');
  deepEqual([attributes['http.request.method'], attributes['http.request.method_original']], ['_OTHER', 'BREW']);
});

test('without a route the name is the method', () => {
  equal(requestOf({ route: undefined }).name, 'GET');
});

for (const [host, address, port] of [
  ['shop.example:8080', 'shop.example', 8080],
  ['shop.example', 'shop.example', undefined],
  ['[::1]:8080', '::1', 8080],
  ['[::1]', '::1', undefined],
  ['', undefined, undefined],
  ['a:b:c', undefined, undefined],
] as const)
  test(`the host "${host}" is told as address and port`, () => {
    const { attributes } = requestOf({ host });
    deepEqual([attributes['server.address'], attributes['server.port']], [address, port]);
  });

test('claims stand in the span of the attempt that brought them, and in that of the request with its own', () => {
  const attempts = [
    attempt({ status: 503, claim: 'relayed', retriedDespite: 'observe' }),
    attempt({ status: 503, claimRefused: 'garbled' }),
  ];
  const words = ['mulligan.claim_in', 'mulligan.claim_refused', 'mulligan.retried_despite'];
  deepEqual(
    [0, 1].map((index) => words.map((word) => attemptOf(attempts, index).attributes[word])),
    [
      ['relayed', undefined, 'observe'],
      [undefined, 'garbled', undefined],
    ],
  );
  const { attributes } = requestOf({ status: 503, attempts, claimOut: 'relayed', lineage: 1 });
  deepEqual([attributes['mulligan.claim_out'], attributes['mulligan.lineage']], ['relayed', 1]);
  equal(requestOf({ lineage: 0 }).attributes['mulligan.lineage'], undefined);
});
