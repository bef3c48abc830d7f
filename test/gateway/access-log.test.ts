import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayState } from '../../src/gateway/build.ts';
import { createRouteHooks } from '../../src/gateway/route-hooks.ts';
import { recordLine } from '../../src/proxy/access-record.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';

const record: AccessRecord = {
  requestId: 1,
  time: '2026-11-30T00:00:00.000Z',
  method: 'GET',
  path: '/',
  host: 'shop.example',
  remoteAddress: '127.0.0.1',
  protocol: '1.1',
  route: 'all',
  upstream: 'orders',
  status: 200,
  flags: [],
  reason: 'success',
  truncated: false,
  bytesIn: 0,
  bytesOut: 0,
  durationMs: 1,
  retryAttempts: 0,
  retryBackoff: 0,
  hedgeRefused: undefined,
  lineage: 0,
  callerTrusted: undefined,
  claimIn: undefined,
  claimOut: undefined,
  replayLost: undefined,
  error: undefined,
  attempts: [],
};

function hooksWithLogAt(path: string): ReturnType<typeof createRouteHooks> {
  const state = { config: { accessLog: { path } } } as GatewayState;
  return createRouteHooks(
    () => state,
    () => {},
  );
}

test('no record is asked for while the log is off', () => {
  equal(hooksWithLogAt('off').log, undefined);
});

test('records are asked for while the log has a place', () => {
  equal(typeof hooksWithLogAt('-').log, 'function');
});

test('a long field is cut, and the others of its line stay whole', () => {
  const line = recordLine({ ...record, path: `/${'a'.repeat(5_000)}`, host: 'b'.repeat(1_024) });
  const { path, host } = JSON.parse(line) as AccessRecord;
  deepEqual([path.length, path.endsWith('a…'), host.length], [1_025, true, 1_024]);
});

test('control characters that terminals obey and line separators are escaped', () => {
  const line = recordLine({ ...record, path: '/\u009b31m\u2028\u007f\n' });
  equal(line.includes(String.raw`"/\u009b31m\u2028\u007f\n"`), true, line);
  equal(line.indexOf('\n'), line.length - 1);
});
