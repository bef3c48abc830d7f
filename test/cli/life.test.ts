import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { RawClient } from '../support/raw-client.ts';
import { connectRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { startCli } from './running-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-life-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(origin: string, log: string, server: string): string {
  const path = join(mkdtempSync(join(folder, 'file-')), 'mulligan.yaml');
  writeFileSync(
    path,
    `listeners: [{ address: 127.0.0.1:0, server: ${server} }]
upstreams: { main: { endpoints: [${origin}] } }
routes: [{ name: main, upstream: main }]
accessLog: { path: '${log}' }
`,
  );
  return path;
}

for (const server of ['own', 'node'] as const) {
  test(`SIGTERM under load fails no request of clients that go when they are told to (${server} listener)`, async (t) => {
    const origin = await startOrigin({ do: 'respond', delayMs: 1 }, { t });
    const cli = startCli(t, ['serve', '-c', fileOf(origin.address, '/dev/null', server)]);
    const address = await cli.address();
    const failures: string[] = [];
    let answered = 0;
    let toldToClose = 0;
    /** Until the listener refuses, which only a closed one does; what a client may not see is a cut or an error. */
    const traffic = async (): Promise<void> => {
      for (let connections = 0; connections < 100; connections += 1) {
        let client: RawClient;
        try {
          client = await connectRaw(address, { t });
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException;
          if (code !== 'ECONNREFUSED' || answered < 400) failures.push(`connect: ${code}`);
          return;
        }
        for (let count = 0; count < 50_000; count += 1) {
          const answer = await client.request({});
          if (answer.status !== 200 || !answer.complete) failures.push(`${answer.status} ${answer.complete}`);
          answered += 1;
          if (answered === 400) cli.child.kill('SIGTERM');
          if (answer.value('connection')?.toLowerCase() === 'close' || !answer.complete) break;
        }
        toldToClose += 1;
        client.destroy();
      }
    };
    await Promise.all(Array.from({ length: 8 }, traffic));
    equal(await cli.exit(), 0);
    deepEqual(failures, []);
    ok(toldToClose >= 8);
    equal(origin.requestCount(), answered);
  });
}

test('SIGUSR2 opens the access log anew, and no record is lost', async (t) => {
  const origin = await startOrigin({}, { t });
  const log = join(folder, 'access.log');
  const cli = startCli(t, ['serve', '-c', fileOf(origin.address, log, 'own')]);
  const address = await cli.address();
  let running = true;
  let answered = 0;
  const traffic = async (): Promise<void> => {
    const client = await connectRaw(address, { t });
    for (let count = 0; running && count < 50_000; count += 1) {
      await client.request({ target: `/${(answered += 1)}` });
    }
    client.destroy();
  };
  const clients = [traffic(), traffic()];
  for (let turn = 1; turn <= 3; turn += 1) {
    await origin.waitForRequest(turn * 50);
    renameSync(log, `${log}.${turn}`);
    cli.child.kill('SIGUSR2');
    await cli.said(new RegExp(`(?:access log opened anew[^]*){${turn}}`));
  }
  await origin.waitForRequest(200);
  running = false;
  await Promise.all(clients);
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 0);
  const files = [1, 2, 3].map((turn) => `${log}.${turn}`);
  const counts = [...files, log].map((file) => readFileSync(file, 'utf8').split('\n').length - 1);
  ok(
    counts.every((count) => count > 0),
    counts.join(),
  );
  const paths = [...files, log].flatMap((file) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number((JSON.parse(line) as { path: string }).path.slice(1))),
  );
  deepEqual(
    paths.sort((a, b) => a - b),
    Array.from({ length: answered }, (_, index) => index + 1),
  );
});
