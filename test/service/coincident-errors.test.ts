import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { outboundTracker } from '../../src/engine/outbound-tracking.ts';
import { withOwnership } from '../../src/service/adapters/node-http.ts';
import { answersFor } from '../../src/service/answering.ts';
import { installService } from '../../src/service/install.ts';
import { startRawOrigin } from './raw-origin.ts';

/** A small generator with a seed, so that a run can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A service that fails by itself in 10 % of its requests, and calls B and C, which it can do without and which fail in 10 %
 * each and relay their errors. @returns wrong relays per 10 errors of its own
 */
async function wrongRelaysPerTen(requestCount: number, fail: () => never): Promise<number> {
  const random = seeded(7);
  let nowMs = 0;
  const origin = await startRawOrigin((path) =>
    path.endsWith('?fails') ? [503, 'error-claim: relayed;hops=1\r\n'] : [200, ''],
  );
  const installed = installService(
    { trust: ['127.0.0.0/8'] },
    { servers: false, host: { nowMs: () => nowMs, random } },
  );
  const call = async (name: string, fails: boolean): Promise<void> => {
    const response = await fetch(`${origin.url}/${name}${fails ? '?fails' : ''}`);
    await response.text();
  };
  const server = createServer(
    withOwnership(async (request, response) => {
      const [own, b, c] = (request.url ?? '')
        .slice(1)
        .split('')
        .map((digit) => digit === '1');
      await Promise.all([call('b', b === true), call('c', c === true)]);
      try {
        if (own === true) fail();
        response.end();
      } catch (error) {
        answersFor(error);
        response.writeHead(500).end();
      }
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.address() as AddressInfo).port;
  let ownCount = 0;
  let wrongCount = 0;
  for (let sent = 0; sent < requestCount; sent += 1) {
    nowMs += 1000;
    const fails = [random() < 0.1, random() < 0.1, random() < 0.1];
    const path = fails.map((one) => (one ? '1' : '0')).join('');
    const response = await fetch(`http://127.0.0.1:${String(port)}/${path}`, { headers: { connection: 'keep-alive' } });
    await response.text();
    if (fails[0] !== true) continue;
    ownCount += 1;
    if (response.headers.get('error-claim')?.startsWith('relayed') === true) wrongCount += 1;
  }
  server.close();
  server.closeAllConnections();
  origin.close();
  installed.uninstall();
  assert.ok(ownCount > requestCount / 20, 'it failed often enough to say something');
  return (wrongCount / ownCount) * 10;
}

test('where its errors name their cause, a service gives up none of its own errors to those of its callees', async () => {
  const wrong = await wrongRelaysPerTen(600, () => {
    // What a client of a database does that reports its calls.
    const call = outboundTracker()!.begin({ method: 'QUERY', url: 'postgres://orders', operation: 'orders/read' });
    const error = new Error('the database is overloaded');
    call.caused(error);
    call.end({ atMs: 0, outcomeClass: 'server', claim: undefined, handled: false, effect: undefined });
    throw new Error('no orders', { cause: error });
  });
  assert.ok(wrong <= 0.2, `${wrong.toFixed(2)} of 10`);
});

test('with its memory alone it gives up 0.4 of 10 at most, what it did while it learned included', async () => {
  const wrong = await wrongRelaysPerTen(2000, () => {
    throw new Error('the database is overloaded');
  });
  assert.ok(wrong <= 0.4, `${wrong.toFixed(2)} of 10`);
});
