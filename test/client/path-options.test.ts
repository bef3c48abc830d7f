import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { forPath } from '../../src/client/path-options.ts';
import type { HopOptions } from '../../src/client/path-options.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';

test('three hops of 10 % are 33 %, and two retries', () => {
  const { retry, budget } = forPath(3, { budget: { kind: 'ratio', percent: 10 } });
  assert.deepEqual([retry.maxRetries, budget], [2, { kind: 'ratio', percent: 33 }]);
});

test('two hops of 10 % are 21 %, whatever binary fractions say', () => {
  assert.equal(forPath(2, { budget: { kind: 'token-bucket', percent: 10 } }).budget.percent, 21);
});

test('one hop is what it was, and a policy without retries stays without', () => {
  assert.deepEqual(forPath(1, { retry: { maxRetries: 1 } }), {
    retry: { maxRetries: 1 },
    budget: { kind: 'ratio', percent: 20 },
  });
  assert.equal(forPath(5, { retry: { maxRetries: 0 } }).retry.maxRetries, 0);
});

test('the other fields stay', () => {
  const options: HopOptions = {
    retry: { codes: [503], maxRetries: 4 },
    budget: { kind: 'ratio', percent: 10, intervalMs: 5000 },
  };
  assert.deepEqual(forPath(3, options), {
    retry: { codes: [503], maxRetries: 4 },
    budget: { kind: 'ratio', percent: 33, intervalMs: 5000 },
  });
});

const FAULTS: readonly (readonly [hopCount: number, options: unknown, fault: RegExp])[] = [
  [0, {}, /hopCount/],
  [2, { budget: { kind: 'none' } }, /budget\.kind is none, no share of the requests; give ratio or token-bucket/],
  [2, { budget: { kind: 'ratio', percent: 150 } }, /budgetShare is 1\.5/],
  [2, { retry: { ownership: 'observe' } }, /retry\.ownership is observe; who spends for a path must obey claims/],
  [2, { hops: 3 }, /there is no option "hops"/],
];

for (const [hopCount, options, fault] of FAULTS) {
  test(`${String(hopCount)} hops with ${JSON.stringify(options)} are refused in words`, () => {
    assert.throws(() => forPath(hopCount, options as HopOptions), fault);
  });
}

/** Requests at an origin that always fails, for so many calls that all come at once. */
async function sentFor(callCount: number, options: ReturnType<typeof forPath>): Promise<number> {
  let count = 0;
  const origin = createServer((_request, response) => {
    count += 1;
    response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const call = wrapFetch(fetch, options);
  const url = `http://127.0.0.1:${String((origin.address() as AddressInfo).port)}/`;
  const retry = async (): Promise<unknown> => (await call(url)).text();
  await Promise.all(Array.from({ length: callCount }, retry));
  origin.closeAllConnections();
  origin.close();
  return count;
}

test('what an origin that is down gets is what all hops together would have sent', async () => {
  const minRetryRate = { count: 0, intervalMs: 1000 };
  const retry = { codes: [503], backoffMs: 0, maxBackoffMs: 0 };
  const hop: HopOptions = { retry, budget: { kind: 'ratio', percent: 10, minRetryRate } };
  assert.equal(await sentFor(100, forPath(1, hop)), 110);
  assert.equal(await sentFor(100, forPath(3, hop)), 133);
});
