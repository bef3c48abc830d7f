// Backoff: the policy says which codes are tried again and how long to wait. The server's Retry-After is never undercut;
// what is over the deadline is not waited for.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRetryPolicy } from 'mulligan/core';
import { createProxy } from 'mulligan/proxy';

let requests = 0;
const origin = createServer((_request, response) => {
  requests += 1;
  response.statusCode = requests < 4 ? 503 : 200;
  response.end(requests < 4 ? 'busy' : 'done');
});
await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
const { port } = origin.address() as AddressInfo;

const proxy = createProxy(
  {
    selectUpstream: () => `127.0.0.1:${port}`,
    log: (_exchange, record) => {
      const waits = record.attempts.map(({ waitMs }) => waitMs);
      console.log(record.status, 'after waits of', waits.join(', '), 'ms');
    },
  },
  {
    // 20 ms, 40 ms, 60 ms. The default is exponential with full jitter, so that clients do not come back together.
    policy: createRetryPolicy({ maxRetries: 5, codes: [503], curve: 'linear', backoffMs: 20, jitter: 'none' }),
    timeouts: { requestMs: 5_000 },
  },
);
const { address } = await proxy.listen('127.0.0.1:0');

const answer = await fetch(`http://127.0.0.1:${address.port}/report`);
console.log(await answer.text(), 'after', requests, 'requests');

await proxy.close();
origin.close();

// Prints:
// 200 after waits of 0, 20, 40, 60 ms
// done after 4 requests
