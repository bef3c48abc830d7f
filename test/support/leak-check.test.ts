import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { leakFree, watchLeaks } from './leak-check.ts';

test('a server that was closed is no leak', async () => {
  const leaks = watchLeaks();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.close();
  await leaks.verify();
});

test('a server and a timer that stay are named', async () => {
  const server = createServer();
  const timer = setInterval(() => {}, 1_000_000);
  const leaky = leakFree(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    timer.ref();
  }, 20);
  timer.unref();
  try {
    await assert.rejects(leaky(), /TCPServerWrap: 1 more[^]*Timeout: 1 more|Timeout: 1 more[^]*TCPServerWrap: 1 more/);
  } finally {
    clearInterval(timer);
    server.close();
  }
});
