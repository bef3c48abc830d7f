import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { blackHoleAddress, refusedAddress } from '../support/addresses.ts';
import { patternBytes, withoutField } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { gatewayFile, startGateway, startRig, startRigOf } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const onReset = { retry: { on: ['unsent', 'stale', 'reset'], attempts: 1, backoff: '1ms' } };

test('a keyed POST that is answered 503 reaches the next endpoint with the same body and the same fields, but for the count of attempts', async (t) => {
  const { origins, client } = await startRigOf(t, [{ do: 'respond', status: 503 }, {}], {
    route: { retry: { codes: [503], attempts: 1, backoff: '1ms' } },
  });
  const body = patternBytes(1024);
  const response = await client.request({
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
    body,
  });
  assert.equal(response.status, 200);
  const [first, second] = origins.map((origin) => origin.request());
  assert.deepEqual([first!.bodySha256, second!.bodySha256], [sha256(body), sha256(body)]);
  assert.deepEqual(withoutField(second!.fields, 'request-attempt'), first!.fields);
  assert.deepEqual(second!.values('request-attempt'), ['n=2, lineage=1']);
  assert.deepEqual([second!.value('content-length'), second!.value('content-type')], ['1024', 'application/json']);
});

test('a PUT that is reset after its head is sent again with its whole body', async (t) => {
  const { origin, client } = await startRig(t, [{ do: 'reset', at: 'head' }, { do: 'respond' }], { route: onReset });
  const response = await client.request({ method: 'PUT', body: 'abc' });
  assert.equal(response.status, 200);
  assert.equal(origin.requestCount(), 2);
  assert.deepEqual([origin.request(2).body.toString(), origin.request(2).value('content-length')], ['abc', '3']);
});

test('a POST whose first endpoint refuses the connection reaches the second one whole', async (t) => {
  const refused = await refusedAddress({ t });
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(t, gatewayFile([refused.address, origin.address]));
  const body = patternBytes(5000);
  const response = await (await gateway.connect()).request({ method: 'POST', body });
  assert.equal(response.status, 200);
  assert.deepEqual([origin.requestCount(), origin.request().bodySha256], [1, sha256(body)]);
});

test('a body far over the replay buffer survives a connect timeout, for nothing of it is read before a connection exists', async (t) => {
  const hole = await blackHoleAddress({ t });
  const origin = await startOrigin({}, { t });
  const parts = { upstream: { connect: { timeout: '300ms' } }, route: { replayBuffer: '32KiB' } };
  const gateway = await startGateway(t, gatewayFile([hole.address, origin.address], parts));
  const body = patternBytes(200_000);
  const response = await (await gateway.connect()).request({ method: 'POST', body });
  assert.equal(response.status, 200);
  assert.deepEqual([origin.requestCount(), origin.request().bodySha256], [1, sha256(body)]);
});

test('10 MiB reach the second endpoint when the first refuses', async (t) => {
  const refused = await refusedAddress({ t });
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(t, gatewayFile([refused.address, origin.address]));
  const body = patternBytes(10 * 1024 * 1024);
  const response = await (await gateway.connect()).request({ method: 'POST', body });
  assert.equal(response.status, 200);
  assert.deepEqual([origin.requestCount(), origin.request().bodySha256], [1, sha256(body)]);
});

test('a chunked PUT without a length is retried while it fits the buffer', async (t) => {
  const { origins, client } = await startRigOf(t, [{ do: 'reset' }, {}], { route: onReset });
  const chunks = [patternBytes(500, 1), patternBytes(524, 2)];
  const response = await client.request({ method: 'PUT', body: chunks });
  assert.equal(response.status, 200);
  assert.equal(origins[0]!.requestCount(), 1);
  const second = origins[1]!.request();
  assert.deepEqual(
    [second.bodySha256, second.framing, second.fault],
    [sha256(Buffer.concat(chunks)), 'chunked', undefined],
  );
});

for (const framing of ['declared', 'chunked']) {
  const whole = patternBytes(1024 * 1024);
  const body = framing === 'declared' ? whole : [whole.subarray(0, 300_000), whole.subarray(300_000)];

  test(`a ${framing} body over the replay buffer still reaches the origin whole`, async (t) => {
    const { origin, client } = await startRig(t, {}, { route: onReset });
    assert.equal((await client.request({ method: 'PUT', body })).status, 200);
    assert.deepEqual([origin.requestCount(), origin.request().bodySha256], [1, sha256(whole)]);
  });

  test(`a ${framing} body over the replay buffer is not sent again after a reset, and the record says why`, async (t) => {
    const { origins, client, gateway } = await startRigOf(t, [{ do: 'reset' }, {}], { route: onReset });
    const response = await client.request({ method: 'PUT', body });
    assert.equal(response.status, 502);
    assert.deepEqual(
      origins.map((origin) => origin.requestCount()),
      [1, 0],
    );
    assert.equal((await gateway.record()).reason, 'body-not-replayable');
  });
}

test('a refused retry of a body over the buffer delivers the 503 as it came', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'respond', status: 503, body: 'busy' },
    { route: { retry: { codes: [503], attempts: 3, backoff: '1ms' } } },
  );
  const response = await client.request({ method: 'PUT', body: patternBytes(300_000) });
  assert.deepEqual([response.status, response.text, origin.requestCount()], [503, 'busy', 1]);
});

test('a body that arrives in small pieces while attempts fail is sent in one piece of truth', async (t) => {
  const { origins, client } = await startRigOf(t, [{ do: 'reset', at: { bodyBytes: 10 } }, {}], { route: onReset });
  const body = patternBytes(3000);
  const head = Buffer.from(`PUT / HTTP/1.1\r\nHost: test.example\r\nContent-Length: ${body.length}\r\n\r\n`);
  void client.sendPieces(Buffer.concat([head, body]), 100, 1);
  assert.equal((await client.response()).status, 200);
  assert.equal(origins[1]!.request().bodySha256, sha256(body));
});
