import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { gatewayFile, startGateway, startRig, type FileObject } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const retry = (attempts: number): FileObject => ({ retry: { codes: [503], attempts, backoff: '1ms' } });
const BUSY = { do: 'respond', status: 503 } as const;

test('a first attempt carries no history, later ones carry their number and the retries made', async (t) => {
  const { origin, client } = await startRig(t, BUSY, { route: retry(2) });
  await client.request({});
  assert.deepEqual(
    origin.journal.requests.map((request) => request.values('request-attempt')),
    [[], ['n=2, lineage=1'], ['n=3, lineage=2']],
  );
});

test('a request that is a retry of its caller is not retried again, and passes its history on', async (t) => {
  const { origin, client, gateway } = await startRig(t, BUSY, { route: retry(2) });
  const response = await client.request({ headers: { 'Request-Attempt': 'n=2, lineage=1' } });
  assert.deepEqual([response.status, origin.requestCount()], [503, 1]);
  assert.deepEqual(origin.request().values('request-attempt'), ['n=1, lineage=1']);
  assert.equal((await gateway.record()).reason, 'retry-of-retry');
});

test('retryOfRetry: true retries it all the same, and the lineage grows', async (t) => {
  const { origin, client } = await startRig(t, BUSY, { route: retry(1), top: { retryOfRetry: true } });
  await client.request({ headers: { 'Request-Attempt': 'n=2, lineage=1' } });
  assert.deepEqual(
    origin.journal.requests.map((request) => request.values('request-attempt')),
    [['n=1, lineage=1'], ['n=2, lineage=2']],
  );
});

const ignored: readonly (readonly [string, readonly string[]])[] = [
  ['malformed', ['n=2; lineage=1;;']],
  ['there twice', ['n=2, lineage=1', 'n=2, lineage=1']],
  ['longer than 256 bytes', [`n=2, lineage=1, x="${'y'.repeat(256)}"`]],
  ['a history of nothing', ['n=1, lineage=0']],
  ['negative', ['n=2, lineage=-1']],
];
for (const [name, values] of ignored) {
  test(`a field that is ${name} changes nothing and reaches no origin`, async (t) => {
    const { origin, client } = await startRig(t, BUSY, { route: retry(1) });
    await client.send(
      `GET / HTTP/1.1\r\nHost: a\r\n${values.map((value) => `Request-Attempt: ${value}\r\n`).join('')}\r\n`,
    );
    assert.equal((await client.response()).status, 503);
    assert.deepEqual(
      origin.journal.requests.map((request) => request.values('request-attempt')),
      [[], ['n=2, lineage=1']],
    );
  });
}

test('a client can take retries away, never add one', async (t) => {
  const { origin, client } = await startRig(t, BUSY, { route: retry(1) });
  await client.request({
    headers: { 'Request-Attempt': 'n=1, lineage=0', 'X-Retry': '99', 'X-Envoy-Max-Retries': '99' },
  });
  assert.equal(origin.requestCount(), 2);
});

test('a look-alike with underscores does not reach the origin', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.send('GET / HTTP/1.1\r\nHost: a\r\nRequest_Attempt: n=2, lineage=9\r\n\r\n');
  await client.response();
  assert.deepEqual(origin.request().values('request_attempt'), []);
});

test('three gateways in a row send a failing request 4 times, not 8: retries are not retried', async (t) => {
  const origin = await startOrigin(BUSY, { t });
  const inner = await startGateway(t, gatewayFile([origin.address], { route: retry(1) }));
  const middle = await startGateway(t, gatewayFile([inner.address], { route: retry(1) }));
  const outer = await startGateway(t, gatewayFile([middle.address], { route: retry(1) }));
  const client = await outer.connect();
  assert.equal((await client.request({})).status, 503);
  assert.equal(origin.requestCount(), 4);
});
