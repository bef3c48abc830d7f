import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { blackHoleAddress, refusedAddress } from './addresses.ts';
import { failOnLeaks } from './leak-check.ts';
import { connectRaw, requestRaw } from './raw-client.ts';
import { startOrigin } from './scripted-origin.ts';

failOnLeaks();

test('a refused address refuses, every time', async (t) => {
  const refused = await refusedAddress({ t });
  for (let i = 0; i < 3; i++) await assert.rejects(connectRaw(refused.address), { code: 'ECONNREFUSED' });
});

test('a refused address cannot be listened on by a neighbour until it is released', async (t) => {
  const refused = await refusedAddress({ t });
  await assert.rejects(startOrigin({}, { t, port: refused.port }), { code: 'EADDRINUSE' });
});

test('a refused address can be listened on once it is released', async (t) => {
  // Once it is free, a connection of another process may get the port first; that does not happen every time.
  for (let attempt = 1; ; attempt++) {
    const refused = await refusedAddress({ t });
    await refused.release();
    try {
      const origin = await startOrigin({}, { t, port: refused.port });
      assert.equal((await requestRaw(origin.address)).status, 200);
      return;
    } catch (error) {
      if (attempt === 10 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
});

test('a black hole neither accepts nor refuses', async (t) => {
  const hole = await blackHoleAddress({ t });
  const events: string[] = [];
  const socket = connect({ host: hole.host, port: hole.port, timeout: 300 });
  for (const name of ['connect', 'error']) socket.on(name, () => events.push(name));
  await new Promise((resolve) => socket.once('timeout', resolve));
  socket.destroy();
  assert.deepEqual(events, []);
});
