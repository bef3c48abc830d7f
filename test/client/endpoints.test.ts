import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request } from 'undici';
import { attemptsOf } from '../../src/client/attempts.ts';
import { ClientDispatcher, createDispatcher } from '../../src/client/dispatcher.ts';
import { fetch } from '../../src/client/fetch.ts';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const BUSY = { do: 'respond', status: 503 } as const;
const AGAIN = { retry: { codes: [503], maxRetries: 3, backoffMs: 0, maxBackoffMs: 0 } };

test('a request goes to its own origin first, and then to each of the others once', async (t) => {
  const origins = [await startOrigin(BUSY, { t }), await startOrigin(BUSY, { t }), await startOrigin(BUSY, { t })];
  const urls = origins.map(({ address }) => `http://${address}`);
  const dispatcher = createDispatcher({ ...AGAIN, retry: { ...AGAIN.retry, maxRetries: 2 }, endpoints: urls });
  t.after(() => dispatcher.close());
  const response = await fetch(`${urls[1]}/path`, { dispatcher });
  assert.equal(response.status, 503);
  await response.bytes();
  const tried = attemptsOf(response)?.attempts.map(({ endpoint }) => endpoint);
  assert.equal(tried?.[0], urls[1]);
  assert.deepEqual([...(tried ?? [])].sort(), [...urls].sort());
  for (const origin of origins) {
    assert.equal(origin.requestCount(), 1);
    assert.equal(origin.request().value('host'), origin.address);
  }
});

test('a Host of the caller stays at every origin', async (t) => {
  const origin = await startOrigin({}, { t });
  const down = `http://${(await refusedAddress({ t })).address}`;
  const dispatcher = createDispatcher();
  t.after(() => dispatcher.close());
  const options = { dispatcher, headers: { host: 'api.example.com' }, endpoints: [`http://${origin.address}`] };
  const { body } = await request(down, options);
  await body.dump();
  assert.deepEqual(origin.request().values('host'), ['api.example.com']);
});

test("a client's endpoints are not for requests to other origins", async (t) => {
  const [one, two, stranger] = [
    await startOrigin({}, { t }),
    await startOrigin({}, { t }),
    await startOrigin(BUSY, { t }),
  ];
  const dispatcher = createDispatcher({ ...AGAIN, endpoints: [`http://${one.address}`, `http://${two.address}`] });
  t.after(() => dispatcher.close());
  const response = await fetch(`http://${stranger.address}/`, { dispatcher });
  await response.bytes();
  assert.deepEqual([response.status, one.requestCount(), two.requestCount(), stranger.requestCount()], [503, 0, 0, 4]);
});

test('an origin that could not be connected to is passed over by later requests while another one works', async (t) => {
  const origin = await startOrigin({}, { t });
  const down = `http://${(await refusedAddress({ t })).address}`;
  // Time stands still: on a busy machine the pause of 100 ms would be over before the next request.
  const dispatcher = new ClientDispatcher(
    { endpoints: [down, `http://${origin.address}`] },
    createManualClock(),
    Math.random,
  );
  t.after(() => dispatcher.close());
  const counts: (number | undefined)[] = [];
  for (let i = 0; i < 3; i += 1) {
    const response = await fetch(`${down}/`, { dispatcher, method: 'POST' });
    await response.bytes();
    counts.push(attemptsOf(response)?.attempts.length);
  }
  assert.deepEqual(counts, [2, 1, 1]);
});
