import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHttp2Origin } from '../support/http2-origin.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { gatewayFile, startGateway, startRigOf } from '../support/running-gateway.ts';

failOnLeaks();

const retry = { attempts: 1, codes: [503], on: ['stale', 'reset', 'timeout'], backoff: '1ms' };

/** What may be done twice by the operator's word, and is not without it. */
for (const [method, idempotent, key, sends] of [
  ['POST', undefined, undefined, 1],
  ['POST', false, undefined, 1],
  ['POST', true, undefined, 2],
  ['POST', false, '"k"', 2],
  ['PATCH', undefined, undefined, 1],
  ['PATCH', true, undefined, 2],
  ['GET', undefined, undefined, 2],
  ['GET', false, undefined, 2],
  ['GET', true, undefined, 2],
] as const) {
  const said = idempotent === undefined ? 'nothing' : `idempotent: ${idempotent}`;
  for (const [what, failing] of [
    ['is answered 503', { do: 'respond', status: 503 }],
    ['is reset', { do: 'reset' }],
  ] as const) {
    test(`${method}${key === undefined ? '' : ' with a key'} on a route that says ${said} and ${what} is sent ${sends === 1 ? 'once' : 'twice'}`, async (t) => {
      const { origins, client } = await startRigOf(t, [failing, {}], {
        route: { retry, ...(idempotent === undefined ? {} : { idempotent }) },
      });
      const body = method === 'GET' ? {} : { body: 'work' };
      const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
      await client.request({ method, target: '/', headers, ...body });
      assert.equal(origins[0]!.journal.requests.length + origins[1]!.journal.requests.length, sends);
    });
  }
}

for (const [idempotent, calls] of [
  [true, 2],
  [false, 1],
] as const) {
  test(`a gRPC call without a key on a route with idempotent: ${idempotent} is made ${calls === 1 ? 'once' : 'twice'} for a status`, async (t) => {
    const origin = await startHttp2Origin(t, (stream) =>
      stream.head(200, [['grpc-status', stream.number === 1 ? '14' : '0']], true),
    );
    const file = gatewayFile([origin.key], {
      upstream: { protocol: 'http2' },
      route: { idempotent, retry: { attempts: 1, codes: [{ grpc: ['unavailable'] }], backoff: '1ms' } },
    });
    const gateway = await startGateway(t, file);
    const answer = await (await gateway.connect()).request({ method: 'POST', target: '/a.B/C', body: 'work' });
    assert.deepEqual([answer.value('grpc-status'), origin.streams.length], [calls === 1 ? '14' : '0', calls]);
  });
}
