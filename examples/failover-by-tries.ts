// Failover: the first try goes to the primary, every later one to the next stand-by. Nobody listens at the primary, so
// nothing can have been sent, and even a POST may go on.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRetryPolicy } from 'mulligan/core';
import { createProxy } from 'mulligan/proxy';

const standBy = createServer((_request, response) => response.end('from the stand-by'));
await new Promise<void>((listening) => standBy.listen(0, '127.0.0.1', listening));
const { port } = standBy.address() as AddressInfo;

interface Tries {
  count: number;
}

const addresses = ['127.0.0.1:1', `127.0.0.1:${port}`];
const proxy = createProxy<Tries>(
  {
    createContext: () => ({ count: 0 }),
    selectUpstream: ({ context }) => addresses[Math.min(context.count, addresses.length - 1)],
    // Called only when there was no connection. `retry` cannot double a request: that stays the core's decision.
    failToConnect({ context }, failure) {
      context.count += 1;
      console.log(`try ${context.count}: ${failure.kind}`);
      return { type: 'retry', delayMs: 0 };
    },
    log: (_exchange, { status, attempts }) => console.log(status, attempts.length, 'attempts'),
  },
  { policy: createRetryPolicy({ maxRetries: 3 }) },
);
const { address } = await proxy.listen('127.0.0.1:0');

const answer = await fetch(`http://127.0.0.1:${address.port}/orders`, { method: 'POST', body: 'one book' });
console.log(await answer.text());

await proxy.close();
standBy.close();

// Prints:
// try 1: connection_refused
// 200 2 attempts
// from the stand-by
