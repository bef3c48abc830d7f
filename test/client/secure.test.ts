import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { request } from 'undici';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { fetch } from '../../src/client/fetch.ts';
import { attemptsOf } from '../../src/client/attempts.ts';
import { refusedAddress } from '../support/addresses.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { failOnLeaks } from '../support/leak-check.ts';

failOnLeaks();

const { ca, server: identity } = createTestCertificates();

async function serve(t: TestContext, allowsHttp2: boolean): Promise<string> {
  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    response.end(`${incoming.httpVersion} ${incoming.method}`);
  };
  const server = allowsHttp2
    ? createSecureServer({ ...identity, allowHTTP1: true }, answer as never)
    : createServer(identity, answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => new Promise((closed) => server.close(closed)));
  return `https://localhost:${(server.address() as AddressInfo).port}/`;
}

function client(t: TestContext, options: ClientOptions): ReturnType<typeof createDispatcher> {
  const dispatcher = createDispatcher(options);
  t.after(() => dispatcher.close());
  return dispatcher;
}

test('https is spoken as HTTP/2 with a server that wants to', async (t) => {
  const url = await serve(t, true);
  const dispatcher = client(t, { tls: { ca } });
  const { statusCode, body } = await request(url, { dispatcher, method: 'POST', body: 'x' });
  assert.deepEqual([statusCode, await body.text()], [200, '2.0 POST']);
  const response = await fetch(url, { dispatcher });
  assert.equal(await response.text(), '2.0 GET');
  assert.equal(attemptsOf(response)?.attempts.length, 1);
});

test('https is spoken as HTTP/1.1 with a server that does not, and where HTTP/2 is switched off', async (t) => {
  for (const [allowsHttp2, options] of [
    [false, {}],
    [true, { http2: false }],
  ] as const) {
    const url = await serve(t, allowsHttp2);
    const response = await fetch(url, { dispatcher: client(t, { tls: { ca }, ...options }) });
    assert.equal(await response.text(), '1.1 GET');
  }
});

test('a certificate that nobody trusts ends the request before it is sent', async (t) => {
  const url = await serve(t, false);
  const call = fetch(url, { dispatcher: client(t, {}), method: 'POST', body: 'secret' });
  await assert.rejects(call, (error) => {
    assert.ok(isRequestFailedError(error));
    assert.deepEqual([error.kind, error.phase], ['tls_certificate_error', 'tls']);
    return true;
  });
});

test('a request fails over from a plain origin to one with TLS', async (t) => {
  const url = await serve(t, true);
  const dispatcher = client(t, { tls: { ca } });
  const plain = `http://${(await refusedAddress({ t })).address}/`;
  const response = await fetch(plain, { dispatcher, endpoints: [new URL(url).origin], method: 'POST' });
  assert.equal(await response.text(), '2.0 POST');
});
