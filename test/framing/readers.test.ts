import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createProxy } from '../../src/proxy/proxy.ts';
import { connectRaw } from '../support/raw-client.ts';
import { readOne, saidRequests, startCapturingOrigin } from './readers/forwarded.ts';
import type { ReadRequest } from './readers/forwarded.ts';
import { isInstalled, readerPrograms, startEcho } from './readers/programs.ts';
import type { Reader } from './readers/programs.ts';

/** A request as the proxy sent it on. */
interface Forwarded extends ReadRequest {
  readonly name: string;
  readonly bytes: Buffer;
}

const sentinel = 'GET /sentinel HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n';

suite('what the proxy forwards, read by others', () => {
  let echo: Reader;
  let forwarded: readonly Forwarded[];

  before(async () => {
    echo = await startEcho();
    forwarded = await forwardAll();
  });
  after(() => echo.close());

  test('is one request each time, or was answered with an error and a close', () => {
    assert.ok(saidRequests.length >= 200, `${saidRequests.length} requests were said`);
    assert.ok(forwarded.length >= 80, `${forwarded.length} were forwarded`);
  });

  for (const { name, program, start } of readerPrograms) {
    const skip =
      program === undefined || isInstalled(program) ? false : `${program} is not here; Debian has it by that name`;
    test(`${name} sees the same single request in each, or refuses it whole`, { skip }, async (t) => {
      const reader = await start(echo.port);
      let refusedCount = 0;
      try {
        for (const request of forwarded) refusedCount += (await isSeenAlike(reader.port, request)) ? 0 : 1;
      } finally {
        await reader.close();
      }
      t.diagnostic(`${forwarded.length} requests, ${refusedCount} refused by ${name}`);
      assert.ok(refusedCount < forwarded.length / 4, `${refusedCount} of ${forwarded.length} were refused`);
    });
  }
});

async function forwardAll(): Promise<Forwarded[]> {
  const origin = await startCapturingOrigin();
  const proxy = createProxy({ selectUpstream: () => origin.address }, { diagnostics: () => {} });
  const { address } = await proxy.listen('127.0.0.1:0');
  const all: Forwarded[] = [];
  try {
    for (const { name, bytes } of saidRequests) {
      const from = origin.captured.length;
      const client = await connectRaw(address.port);
      await client.send(
        bytes,
        Array.from({ length: 3 }, () => bytes.slice(0, bytes.indexOf(' '))),
      );
      client.halfClose();
      await client.waitForEnd();
      client.destroy();
      const sent = origin.captured.slice(from).filter(({ complete }) => complete);
      for (const { bytes: captured } of sent) {
        const read = readOne(captured);
        assert.ok(
          read !== undefined,
          `${name}: the proxy sent what is not one request: ${captured.toString('latin1')}`,
        );
        all.push({ name, bytes: captured, ...read });
      }
      if (sent.length === 0)
        assert.ok((client.responses[0]?.status ?? 400) >= 200, `${name} was neither sent on nor answered`);
    }
  } finally {
    await proxy.close();
    await origin.close();
  }
  return all;
}

/** False: the reader refused it whole. @throws AssertionError when it saw anything else than this one request */
async function isSeenAlike(port: number, { name, bytes, method, target, body }: Forwarded): Promise<boolean> {
  const client = await connectRaw(port);
  try {
    await client.send(bytes, [method]);
    const answer = await client.response();
    if (answer.status >= 400) return false;
    assert.equal(answer.status, 200, `${name}: ${answer.status}`);
    // Some answer it themselves, in their own words.
    if (method !== 'HEAD' && target !== '*') assert.deepEqual(JSON.parse(answer.text), { method, target, body }, name);
    if (answer.value('connection') === 'close') return true;
    // Bytes that it took for another request, or for no part of this one, would come before this.
    await client.send(sentinel, ['GET']);
    const last = await client.response();
    // It closes without having said so: nothing more was seen.
    if (last.status === 0) return true;
    assert.deepEqual(
      [last.status, JSON.parse(last.text)],
      [200, { method: 'GET', target: '/sentinel', body: '' }],
      name,
    );
    return true;
  } finally {
    client.destroy();
  }
}
