import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEnvironment } from '../../src/service/environment.ts';
import { readInboundFacts } from '../../src/engine/inbound-facts.ts';
import { operationName } from '../../src/service/operation-name.ts';
import { checkSource } from '../../src/config/checked-source.ts';
import { formatFault } from '../../src/config/fault.ts';
import { serviceForm } from '../../src/service/service-schema.ts';
import { createTrust, readPeer } from '../../src/config/trust.ts';

const faultsOf = (text: string): string[] => checkSource(text, 'f.yaml', serviceForm).faults.map(formatFault);

test('a service file with every setting is read', () => {
  const text = [
    'mode: observe',
    'trust: [10.0.0.0/8, "*.svc.cluster.local", "::1"]',
    'blameUnknown: false',
    'margin: 10ms',
    'refuseExpired: false',
    'alias: true',
    'probeEvery: 1000',
    'openTelemetry: false',
    'memory: { file: memory.json, saveEvery: 30s }',
    'edges: [{ from: GET /orders, to: "GET stock:8080/*", class: fail-open, mode: enforce }]',
  ].join('\n');
  const { file, faults } = checkSource(text, 'f.yaml', serviceForm);
  assert.deepEqual(faults, []);
  assert.equal(file?.margin, 10);
  assert.equal(file.openTelemetry, false);
  assert.equal(file.memory?.saveEvery, 30_000);
  assert.deepEqual(file.trust, ['10.0.0.0/8', '*.svc.cluster.local', '::1']);
});

const FAULTS: readonly (readonly [text: string, fault: RegExp])[] = [
  ['mode: on', /f\.yaml:1:7 mode: must be one of off, observe, enforce/],
  ['trust: 10.0.0.0/8', /f\.yaml:1:8 trust: must be a list/],
  ['trust: [10.0.0.256]', /trust\[0\]: is not a peer/],
  ['trust: ["a b"]', /trust\[0\]: is not a peer/],
  ['margin: 5', /margin: 5 is not a duration: it has no unit \(add a unit: 5ms or 5s\)/],
  ['margin: 2m', /margin: is too long \(at most 60s\)/],
  ['probeEvery: -1', /probeEvery: must be at least 0/],
  ['openTelemetry: often', /openTelemetry: must be true or false/],
  ['memory: {}', /memory\.file: is missing/],
  ['memory: { file: a, saveEvery: 10ms }', /memory\.saveEvery: is out of range \(from 1s to 24h\)/],
  ['edges: [{ class: fail-open }]', /edges\[0\]\.to: is missing/],
  ['edges: [{ to: x, class: open }]', /edges\[0\]\.class: must be one of fail-closed, fail-open/],
  ['edge: []', /edge: is not a known setting \(did you mean `edges`\?\)/],
  ['', /is empty \(it needs at least one setting/],
];

for (const [text, fault] of FAULTS) {
  test(`a service file of '${text}' is refused in words`, () => {
    const faults = faultsOf(text);
    assert.match(faults.join('\n'), fault);
  });
}

test('every variable is read', () => {
  const { options, faults } = readEnvironment({
    MULLIGAN_MODE: 'observe',
    MULLIGAN_TRUST: '10.0.0.0/8, payments ,',
    MULLIGAN_BLAME_UNKNOWN: 'false',
    MULLIGAN_MARGIN: '0s',
    MULLIGAN_REFUSE_EXPIRED: 'true',
    MULLIGAN_ALIAS: 'true',
    MULLIGAN_PROBE_EVERY: '1000',
    MULLIGAN_OPENTELEMETRY: 'false',
    MULLIGAN_MEMORY_FILE: '/var/lib/memory.json',
    MULLIGAN_SAVE_EVERY: '5m',
    MULLIGAN_SERVICE_CONFIG: 'x',
    MULLIGAN_SOMETHING_OF_THEIRS: 'x',
    PATH: 'x',
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(options, {
    mode: 'observe',
    trust: ['10.0.0.0/8', 'payments'],
    blameUnknown: false,
    marginMs: 0,
    refuseExpired: true,
    alias: true,
    probeEvery: 1000,
    openTelemetry: false,
    memoryFile: '/var/lib/memory.json',
    saveEveryMs: 300_000,
  });
});

test('variables that cannot be read are told one by one, empty ones say nothing', () => {
  const { options, faults } = readEnvironment({
    MULLIGAN_MODE: 'on',
    MULLIGAN_TRUST: '10.0.0.0/33',
    MULLIGAN_MARGIN: '61s',
    MULLIGAN_PROBE_EVERY: '1e3',
    MULLIGAN_ALIAS: 'yes',
    MULLIGAN_SAVE_EVERY: '',
  });
  assert.equal(faults.length, 5);
  assert.match(faults.join('\n'), /MULLIGAN_TRUST: '10\.0\.0\.0\/33' is not a network/);
  assert.deepEqual(options, {});
});

test('a peer is a network, an address or a name, and nothing that only looks like one', () => {
  for (const text of ['10.0.0.0/8', '::1', 'fd00::/8', 'payments', 'a.b-c', '*.svc'])
    assert.ok(readPeer(text).ok, text);
  for (const text of ['10.0.0.0/33', '1.2.3', '10.0.0.256', '*', '*.', 'a/8', '', 'a b', 'x\r\ny', 7, null]) {
    assert.ok(!readPeer(text).ok, String(text));
  }
  assert.throws(() => createTrust(['1.2.3']), /trust: '1\.2\.3' is not a peer/);
});

test('nobody is trusted by default, not even the own machine', () => {
  const trust = createTrust([]);
  assert.equal(trust.any, false);
  assert.equal(trust.hasAddress('127.0.0.1'), false);
});

const NAMES: readonly (readonly [path: string, name: string])[] = [
  ['/orders', 'GET /orders'],
  ['/orders?id=7', 'GET /orders'],
  ['/orders/7/lines/12', 'GET /orders/:id/lines/:id'],
  ['/orders/550e8400-e29b-41d4-a716-446655440000', 'GET /orders/:id'],
  ['/v2/orders', 'GET /v2/orders'],
  ['/', 'GET /'],
  ['', 'GET /'],
  ['/a/', 'GET /a/'],
  ['/1/2/3/4/5/6/7/8/9/10', 'GET /:id/:id/:id/:id/:id/:id/:id/:id/*'],
];

for (const [path, name] of NAMES) {
  test(`the path '${path}' belongs to the operation '${name}'`, () => {
    assert.equal(operationName('GET', '', path), name);
  });
}

test('a name of an operation is 200 characters long at most', () => {
  assert.equal(operationName('GET', 'x'.repeat(500), '/').length, 200);
});

test('of several timeouts the shortest holds, and of garbled ones none', () => {
  const timeoutOf = (...fields: string[]): number | undefined => readInboundFacts(fields).timeoutMs;
  assert.equal(timeoutOf('Request-Timeout', '900', 'grpc-timeout', '1S'), 900);
  assert.equal(timeoutOf('grpc-timeout', '2M'), 120_000);
  assert.equal(timeoutOf('grpc-timeout', '500u'), 0.5);
  assert.equal(timeoutOf('grpc-timeout', '99999999H'), 86_400_000);
  for (const value of ['1', 'S', '-1S', '123456789S', '1.5S', '1s'])
    assert.equal(timeoutOf('grpc-timeout', value), undefined);
  assert.equal(timeoutOf('x-envoy-expected-rq-timeout-ms', '250'), 250);
  assert.equal(timeoutOf('x-envoy-expected-rq-timeout-ms', '250', 'X-Envoy-Expected-Rq-Timeout-Ms', '9'), undefined);
  assert.equal(timeoutOf('x-request-timeo', '1'), undefined);
});
