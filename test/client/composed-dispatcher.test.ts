import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fetch, interceptors, request } from 'undici';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

for (const end of ['close', 'destroy'] as const) {
  test(`${end} works on what compose makes of our dispatcher`, async (t) => {
    const { address } = await startOrigin({ do: 'respond', body: 'fine' }, { t });
    const dispatcher = createDispatcher().compose((dispatch) => dispatch);
    const { body } = await request(`http://${address}/`, { dispatcher });
    assert.equal(await body.text(), 'fine');
    await dispatcher[end]();
    await assert.rejects(request(`http://${address}/`, { dispatcher }));
  });
}

test('a body that an interceptor decodes is decoded once', async (t) => {
  const { address } = await startOrigin(
    { do: 'respond', headers: { 'Content-Encoding': 'gzip' }, body: gzipSync('plain') },
    { t },
  );
  const dispatcher = createDispatcher().compose(interceptors.decompress());
  t.after(() => dispatcher.destroy());
  const response = await fetch(`http://${address}/`, { dispatcher });
  assert.equal(await response.text(), 'plain');
});
