import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailureKind, FailurePhase, FailureSource } from '../../src/core/failure.ts';
import { failureCause } from '../../src/core/failure-cause.ts';
import {
  failureFromBody,
  failureFromClose,
  failureFromError,
  failureFromParseFault,
  failureFromTimeout,
} from '../../src/transport/failure-from-error.ts';
import type { FailureSite } from '../../src/transport/failure-from-error.ts';

function site(phase: FailurePhase): FailureSite {
  return { phase, reused: true, bytesSent: 12, bytesReceived: 3 };
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall, errno: -1 });
}

const rows: readonly [code: string, syscall: string, phase: FailurePhase, kind: FailureKind, source: FailureSource][] =
  [
    ['ECONNREFUSED', 'connect', 'connect', 'connection_refused', 'upstream'],
    ['ECONNRESET', 'connect', 'connect', 'connection_terminated', 'upstream'],
    ['ETIMEDOUT', 'connect', 'connect', 'connection_timeout', 'upstream'],
    ['ENETUNREACH', 'connect', 'connect', 'destination_ip_unroutable', 'upstream'],
    ['EHOSTUNREACH', 'connect', 'connect', 'destination_ip_unroutable', 'upstream'],
    ['EPERM', 'connect', 'connect', 'destination_ip_prohibited', 'internal'],
    ['ENOTFOUND', 'getaddrinfo', 'connect', 'dns_error', 'upstream'],
    ['EAI_AGAIN', 'getaddrinfo', 'connect', 'dns_error', 'upstream'],
    ['ENOTFOUND', '', 'connect', 'dns_error', 'upstream'],
    ['EAI_AGAIN', '', 'connect', 'dns_error', 'upstream'],
    ['ETIMEOUT', 'queryA', 'connect', 'dns_timeout', 'upstream'],
    ['EMFILE', 'connect', 'connect', 'local_resource_exhausted', 'internal'],
    ['ENFILE', 'connect', 'connect', 'local_resource_exhausted', 'internal'],
    ['EADDRNOTAVAIL', 'connect', 'connect', 'local_resource_exhausted', 'internal'],
    ['ENOBUFS', 'write', 'send', 'local_resource_exhausted', 'internal'],
    ['ERR_SOCKET_BAD_PORT', 'connect', 'connect', 'proxy_configuration_error', 'internal'],
    ['ECONNRESET', 'read', 'tls', 'connection_terminated', 'upstream'],
    ['CERT_HAS_EXPIRED', 'connect', 'tls', 'tls_certificate_error', 'upstream'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'connect', 'tls', 'tls_certificate_error', 'upstream'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'connect', 'tls', 'tls_protocol_error', 'upstream'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'connect', 'tls', 'tls_alert_received', 'upstream'],
    ['EPIPE', 'write', 'send', 'connection_terminated', 'upstream'],
    ['ECONNRESET', 'read', 'send', 'connection_terminated', 'upstream'],
    ['ECONNRESET', 'read', 'wait', 'connection_terminated', 'upstream'],
    ['ECONNRESET', 'read', 'head', 'http_response_incomplete', 'upstream'],
    ['ECONNRESET', 'read', 'body', 'http_response_incomplete', 'upstream'],
    ['ETIMEDOUT', 'write', 'send', 'connection_write_timeout', 'upstream'],
    ['ETIMEDOUT', 'read', 'wait', 'connection_read_timeout', 'upstream'],
    ['EUNHEARDOF', 'connect', 'connect', 'destination_unavailable', 'upstream'],
    ['EUNHEARDOF', 'read', 'wait', 'proxy_internal_error', 'internal'],
  ];

for (const [code, syscall, phase, kind, source] of rows) {
  test(`${code} from ${syscall} in phase ${phase} is ${kind}, source ${source}`, () => {
    const failure = failureFromError(systemError(code, syscall), site(phase));
    assert.equal(failure.kind, kind);
    assert.equal(failure.source, source);
    assert.equal(failure.phase, phase);
    assert.deepEqual([failure.reused, failure.bytesSent, failure.bytesReceived], [true, 12, 3]);
    assert.equal(failure.cause?.code, code);
  });
}

test('an error that no system call made is a fault of ours', () => {
  assert.equal(failureFromError(new TypeError('x is not a function'), site('connect')).kind, 'proxy_internal_error');
  assert.equal(failureFromError('text', site('wait')).kind, 'proxy_internal_error');
  assert.equal(failureFromError(undefined, site('wait')).source, 'internal');
});

test('several addresses that all failed are one failure, named by the first', () => {
  const error = new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('ENETUNREACH', 'connect')]);
  const failure = failureFromError(error, site('connect'));
  assert.equal(failure.kind, 'connection_refused');
  assert.equal(failure.cause?.cause?.message, 'connect ECONNREFUSED');
});

test('a FIN after the head began is an incomplete response, before it a terminated connection', () => {
  assert.equal(failureFromClose(site('wait')).kind, 'connection_terminated');
  assert.equal(failureFromClose(site('head')).kind, 'http_response_incomplete');
  assert.equal(failureFromClose(site('body')).kind, 'http_response_incomplete');
});

test('garbage instead of a status line is no head; a fault behind one is', () => {
  const garbage = failureFromParseFault({ code: 'BAD_START_LINE', message: '', status: 400 }, site('head'));
  const badField = failureFromParseFault({ code: 'BAD_FIELD_NAME', message: '', status: 400 }, site('head'));
  assert.deepEqual([garbage.kind, garbage.phase], ['http_protocol_error', 'wait']);
  assert.deepEqual([badField.kind, badField.phase], ['http_protocol_error', 'head']);
});

test('an oversize head and a bad transfer coding keep their own names', () => {
  assert.equal(
    failureFromParseFault({ code: 'HEAD_TOO_LARGE', message: '', status: 431 }, site('head')).kind,
    'http_response_header_section_size',
  );
  assert.equal(
    failureFromParseFault({ code: 'BAD_TRANSFER_ENCODING', message: '', status: 400 }, site('head')).kind,
    'http_response_transfer_coding',
  );
});

test('each limit has its own kind, and only the full pool is not the upstream’s', () => {
  const kinds = (['queue', 'connect', 'attempt', 'head', 'read', 'write'] as const).map((name) =>
    failureFromTimeout(name, 5, site('wait')),
  );
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    [
      'connection_limit_reached',
      'connection_timeout',
      'http_response_timeout',
      'http_response_timeout',
      'connection_read_timeout',
      'connection_write_timeout',
    ],
  );
  assert.deepEqual(
    kinds.map(({ source }) => source),
    ['internal', 'upstream', 'upstream', 'upstream', 'upstream', 'upstream'],
  );
  assert.match(kinds[1]?.cause?.message ?? '', /within 5 ms/);
});

test('a dead upload keeps its kind and source and gets the evidence of the attempt', () => {
  const upload = {
    kind: 'downstream_closed',
    source: 'downstream',
    phase: 'body',
    reused: false,
    bytesSent: 0,
    bytesReceived: 99,
  } as const;
  const failure = failureFromBody(upload, site('send'));
  assert.deepEqual(failure, { ...upload, phase: 'send', reused: true, bytesSent: 12, bytesReceived: 3 });
});

test('a chain of causes ends after ten links, at a cycle, and never holds a stack', () => {
  let deep = new Error('level 0');
  for (let level = 1; level < 30; level += 1) deep = new Error(`level ${String(level)}`, { cause: deep });
  let depth = 0;
  for (
    let link = failureCause(deep) as ReturnType<typeof failureCause> | undefined;
    link !== undefined;
    link = link.cause
  )
    depth += 1;
  assert.equal(depth, 10);

  const cyclic: Error & { cause?: unknown } = new Error('me');
  cyclic.cause = cyclic;
  assert.deepEqual(failureCause(cyclic), { code: 'Error', message: 'me' });
  assert.ok(!JSON.stringify(failureCause(deep)).includes('at '));
});

test('whatever was thrown can be described', () => {
  const hostile = {
    get message(): string {
      throw new Error('gotcha');
    },
  };
  assert.deepEqual(failureCause(hostile), { code: 'object', message: '' });
  assert.deepEqual(failureCause(null), { code: 'undefined', message: 'nothing was thrown' });
  assert.deepEqual(failureCause(42), { code: 'number', message: '42' });
  assert.equal(failureCause(new Error('x'.repeat(10_000))).message.length, 500);
});
