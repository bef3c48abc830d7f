import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { startCli } from '../cli/running-cli.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

test('without file descriptors for the upstream, requests are answered 503 and the gateway recovers', async (t) => {
  const origin = await startOrigin(
    { rules: [{ when: { target: '/held' }, behave: { do: 'respond', gate: 'go' } }] },
    { t },
  );
  const cli = startCli(t, ['proxy', '--listen', '127.0.0.1:0', '--to', `http://${origin.address}`]);
  const address = await cli.address();
  const clients = [];
  for (let i = 0; i < 10; i++) {
    const client = await connectRaw(address, { t });
    assert.equal((await client.request({})).status, 200);
    clients.push(client);
  }
  // Every client is accepted; the upstream may have two more connections beside the idle one.
  const pid = String(cli.child.pid);
  execFileSync('prlimit', ['--pid', pid, `--nofile=${readdirSync(`/proc/${pid}/fd`).length + 2}`]);
  const answers = clients.map((client) => client.request({ target: '/held' }));
  const early = answers.map((answer) => answer.then((response) => response.status));
  // Those that found no descriptor are answered while the others are held.
  await Promise.any(early);
  await origin.waitForRequest(1, { target: '/held' });
  origin.open('go');
  const statuses = await Promise.all(early);
  assert.deepEqual(new Set(statuses), new Set([200, 503]));
  assert.equal(statuses.filter((status) => status === 200).length, origin.requestCount({ target: '/held' }));
  for (const client of clients) client.destroy();
  assert.equal((await requestRaw(address)).status, 200);
  assert.equal(cli.child.exitCode, null);
});

test('when no client can be accepted for want of descriptors, the waiting ones are served as soon as others leave', async (t) => {
  const origin = await startOrigin({}, { t });
  const cli = startCli(t, ['proxy', '--listen', '127.0.0.1:0', '--to', `http://${origin.address}`]);
  const address = await cli.address();
  assert.equal((await requestRaw(address)).status, 200);
  const pid = String(cli.child.pid);
  execFileSync('prlimit', ['--pid', pid, `--nofile=${readdirSync(`/proc/${pid}/fd`).length + 4}`]);
  // More than the limit takes: the kernel holds the rest, or they are closed at once.
  const clients = [];
  for (let i = 0; i < 12; i++) clients.push(await connectRaw(address, { t }));
  for (const client of clients) client.destroy();
  // Until the gateway has seen them leave, the system may still close whoever comes.
  let status = 0;
  for (let i = 0; i < 100 && status !== 200; i++) ({ status } = await requestRaw(address));
  assert.equal(status, 200);
  assert.equal(cli.child.exitCode, null);
});
