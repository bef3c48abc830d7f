import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { createProxy } from '../../src/proxy/proxy.ts';
import { failOnLeaks } from '../support/leak-check.ts';

failOnLeaks();

test('a request is taken beside ninety answers that its client does not read, more than node:http2 lets wait by itself', async (t) => {
  const proxy = createProxy({
    requestFilter: ({ request }) =>
      request.path === '/small' ? { status: 204 } : { status: 200, body: Buffer.alloc(200_000) },
  });
  const listener = await proxy.listen('127.0.0.1:0');
  const session = connect(`http://127.0.0.1:${listener.address.port}`, { settings: { initialWindowSize: 0 } });
  t.after(async () => {
    session.destroy();
    await proxy.close();
  });
  await once(session, 'remoteSettings');
  for (let n = 0; n < 90; n += 1) {
    const stream = session.request({ ':path': '/large' });
    stream.on('error', () => {});
    await once(stream, 'response');
  }
  const small = session.request({ ':path': '/small' });
  const [head] = (await once(small, 'response')) as [Record<string, unknown>];
  assert.equal(head[':status'], 204);
});
