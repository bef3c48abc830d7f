// An auth filter: asks somebody, by a promise, before anything is sent; lets the request through with the caller's name on
// it, or answers by itself. When whoever it asks is away, the client gets 503 and the log says why.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { because, FailureError } from 'mulligan/core';
import { createProxy, fieldValue, HttpStatusError } from 'mulligan/proxy';

const origin = createServer((request, response) => response.end(`hello ${String(request.headers['x-user'])}`));
await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
const { port } = origin.address() as AddressInfo;

/** In place of a session store. */
const userOf = async (token: string): Promise<string | undefined> => {
  if (token === 'Bearer broken') throw new Error('session store: connection lost');
  return token === 'Bearer s3cret' ? 'ada' : undefined;
};

const proxy = createProxy<{ user: string }>(
  {
    createContext: () => ({ user: '' }),
    async requestFilter({ context, request }) {
      const token = fieldValue(request.fields, 'authorization');
      if (token === undefined) return { status: 401, fields: ['WWW-Authenticate', 'Bearer'], body: 'who are you?' };
      const user = await userOf(token).catch((error: unknown) => {
        throw new FailureError(because('destination_unavailable', 'ask for the user', error, { source: 'upstream' }));
      });
      if (user === undefined) throw new HttpStatusError(403, 'That token is not known.');
      context.user = user;
      return undefined;
    },
    selectUpstream: () => `127.0.0.1:${port}`,
    upstreamRequestFilter: ({ context }, request) => void request.fields.push('X-User', context.user),
    // A denied request is no fault of this proxy.
    suppressErrorLog: (_exchange, failure) => failure.cause?.code === 'HttpStatusError',
  },
  { diagnostics: (_level, line) => console.log(line.split(';')[0]) },
);
const { address } = await proxy.listen('127.0.0.1:0');

for (const token of [undefined, 'Bearer guess', 'Bearer s3cret', 'Bearer broken']) {
  const headers = token === undefined ? undefined : { Authorization: token };
  const answer = await fetch(`http://127.0.0.1:${address.port}/`, { headers: headers ?? {} });
  const body = await answer.text();
  console.log(answer.status, body.startsWith('{') ? JSON.parse(body).detail : body);
}

await proxy.close();
origin.close();

// Prints:
// 401 who are you?
// 403 That token is not known.
// 200 hello ada
// upstream destination_unavailable while choosing an endpoint: requestFilter: ask for the user: session store: connection lost
// 503 No endpoint of the upstream can be used.
