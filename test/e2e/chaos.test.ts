import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { patternBytes } from '../support/fields.ts';
import type { JournalRequest } from '../support/journal.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { malformedChunkedBodies, malformedResponseHeads } from '../support/malformed.ts';
import type { Behaviour, Then } from '../support/origin-script.ts';
import type { RawResponse } from '../support/raw-response.ts';
import { startRigOf, type RunningGateway } from '../support/running-gateway.ts';

failOnLeaks();

/** Uniform in [0, 1), the same sequence for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const clientCount = 12;
const requestsPerClient = 40;
const maxRetries = 3;

/** What a good answer says: which request it belongs to, and which body the origin got. */
const echo = (request: JournalRequest): string => `${request.method} ${request.target} ${request.bodySha256}`;

function misbehave(random: () => number): Behaviour {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const deaths: readonly Then[] = ['reset', 'close', 'destroy'];
  switch (Math.floor(random() * 12)) {
    case 0:
      return { do: pick(['reset', 'close', 'destroy'] as const), at: pick(['head', 'complete'] as const) };
    case 1:
      return {
        do: 'respond',
        status: pick([500, 502, 503, 504, 429]),
        body: 'failing',
        then: pick(['keep-alive', ...deaths]),
      };
    case 2:
      return { do: 'respond', cut: { headBytes: Math.floor(random() * 30) }, then: pick(deaths) };
    case 3:
      return {
        do: 'respond',
        body: 'wrong'.repeat(50),
        framing: pick(['length', 'chunked'] as const),
        cut: { bodyBytes: 20 },
        then: pick(deaths),
      };
    case 4:
      return { do: 'raw', bytes: pick(malformedResponseHeads).bytes };
    case 5:
      return {
        do: 'raw',
        bytes: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${pick(malformedChunkedBodies).bytes}`,
      };
    case 6:
      return { do: 'hang' };
    case 7:
      return { do: 'respond', at: 'head', status: 413, body: 'failing', then: pick(['keep-alive', ...deaths]) };
    case 8:
      return {
        do: 'respond',
        interim: [{ status: 103, count: Math.floor(random() * 5) }],
        cut: { headBytes: 0 },
        then: pick(deaths),
      };
    case 9:
      return {
        do: 'respond',
        status: 503,
        headers: { 'Retry-After': pick(['0', '-1', 'x', '3600']) },
        body: 'failing',
      };
    case 10:
      return { do: 'respond', status: 204, forceBody: true, body: 'failing', framing: 'none' };
    default:
      return { do: 'respond', body: 'wrong', declaredBytes: 50, then: pick(deaths) };
  }
}

async function runClient(gateway: RunningGateway, who: number, random: () => number): Promise<void> {
  let client = await gateway.connect();
  for (let i = 0; i < requestsPerClient; i++) {
    const method = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'][Math.floor(random() * 5)]!;
    const target = `/${who}/${i}`;
    const body = patternBytes(Math.floor(random() * (random() < 0.1 ? 200_000 : 2_000)), i + 1);
    const withBody = method !== 'GET' && method !== 'DELETE';
    const chunked = random() < 0.3;
    const request = { method, target, ...(withBody ? { body: chunked ? [body] : body } : {}) };
    if (random() < 0.05) {
      // A client that leaves at some moment of its request.
      void client.sendRequest(request);
      await new Promise((resolve) => setImmediate(resolve));
      client.reset();
      client = await gateway.connect();
      continue;
    }
    const response: RawResponse = await client.request(request);
    assert.equal(response.fault, undefined, `${method} ${target}: the gateway sent ${response.fault}`);
    assert.notEqual(response.status, 0, `${method} ${target}: no answer`);
    if (response.complete && response.status === 200) {
      assert.equal(response.text, `${method} ${target} ${sha256(withBody ? body : Buffer.alloc(0))}`);
    }
    // Its FIN may still be on the way: an answer that says `close` is the last one of its connection.
    const isLast = response.values('connection').includes('close');
    if (isLast || client.ending !== undefined || !response.complete) {
      client.destroy();
      client = await gateway.connect();
    }
  }
  client.destroy();
}

/** `MULLIGAN_CHAOS_SEEDS=4,5,6` runs others. */
const seeds = (process.env['MULLIGAN_CHAOS_SEEDS'] ?? '1,2').split(',').map(Number);

for (const seed of seeds) {
  test(`under random faults of seed ${seed} every request gets its own answer or an error, and no POST is doubled`, async (t) => {
    const random = randomFrom(seed);
    const script = (request: JournalRequest): Behaviour =>
      random() < 0.5
        ? {
            do: 'steps',
            steps: [
              { step: 'until', point: 'complete' },
              { step: 'answer', with: () => echo(request) },
              { step: 'answered' },
            ],
          }
        : misbehave(random);
    const { origins, gateway } = await startRigOf(t, [script, script, script], {
      upstream: { loadBalancing: 'random', retryBudget: { kind: 'none' } },
      route: {
        timeouts: { request: '2s', backendRequest: '300ms', idle: '300ms' },
        retry: {
          attempts: maxRetries,
          codes: [429, 500, 502, 503, 504],
          on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
          backoff: '1ms',
          maxBackoff: '5ms',
        },
      },
    });
    await Promise.all(
      Array.from({ length: clientCount }, (_, who) => runClient(gateway, who, randomFrom(seed * 1000 + who))),
    );

    const sends = new Map<string, JournalRequest[]>();
    for (const origin of origins) {
      for (const request of origin.journal.requests) {
        assert.equal(request.fault, undefined, `the gateway sent ${request.fault}`);
        assert.equal(request.pipelined, false, 'the gateway pipelined');
        if (request.target !== '') sends.set(request.target, [...(sends.get(request.target) ?? []), request]);
      }
    }
    for (const [target, requests] of sends) {
      const { method } = requests[0]!;
      const most = method === 'POST' || method === 'PATCH' ? 1 : 1 + maxRetries + 1;
      assert.ok(requests.length <= most, `${method} ${target} was sent ${requests.length} times`);
    }
    // Every request that reached the gateway has exactly one record.
    await gateway.record(clientCount * requestsPerClient * 0.9);
  });
}
