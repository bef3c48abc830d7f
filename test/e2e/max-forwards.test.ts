import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

test('OPTIONS and TRACE that no hop may forward are answered here', async (t) => {
  const { client, origin } = await startRig(t, { do: 'respond' });
  const options = await client.request({ method: 'OPTIONS', target: '*', headers: { 'Max-Forwards': '0' } });
  assert.equal(options.status, 204);
  assert.match(options.value('allow') ?? '', /GET/);
  const trace = await client.request({ method: 'TRACE', headers: { 'Max-Forwards': '0', Cookie: 'secret=1' } });
  assert.equal(trace.status, 501);
  assert.doesNotMatch(trace.text, /secret/);
  assert.equal(origin.requestCount(), 0);
});

test('OPTIONS that two hops may forward leaves one to the next', async (t) => {
  const { client, origin } = await startRig(t, { do: 'respond' });
  await client.request({ method: 'OPTIONS', headers: { 'Max-Forwards': '2' } });
  assert.deepEqual(origin.request().values('max-forwards'), ['1']);
});

test('a number of hops that nobody can tell is answered 400', async (t) => {
  const { gateway, origin } = await startRig(t, { do: 'respond' });
  for (const lines of ['Max-Forwards: -1', 'Max-Forwards: two', 'Max-Forwards: 1\r\nMax-Forwards: 2']) {
    const client = await gateway.connect();
    await client.send(`OPTIONS / HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`, ['OPTIONS']);
    assert.equal((await client.response()).status, 400);
  }
  assert.equal(origin.requestCount(), 0);
});

test('other methods do not count hops', async (t) => {
  const { client, origin } = await startRig(t, { do: 'respond' });
  await client.request({ headers: { 'Max-Forwards': '0' } });
  assert.deepEqual(origin.request().values('max-forwards'), ['0']);
});
