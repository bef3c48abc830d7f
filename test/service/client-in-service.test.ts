import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { fetch as ownFetch } from '../../src/client/fetch.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import { withOwnership } from '../../src/service/adapters/node-http.ts';
import { installService } from '../../src/service/install.ts';
import { servicePrometheusText } from '../../src/service/prometheus-text.ts';
import type { OwnershipMode } from '../../src/core/retry-policy.ts';
import { startRawOrigin, type RawOrigin } from './raw-origin.ts';

const RETRY = { maxRetries: 1, codes: [503] };

/** How a service calls; each retries once. */
const CALLS = {
  layer: () => ({ call: wrapFetch(fetch, { retry: RETRY }), close: () => {} }),
  client: () => {
    const dispatcher = createDispatcher({ retry: RETRY, proxy: 'none' });
    return { call: (url: string) => ownFetch(url, { dispatcher }), close: () => void dispatcher.destroy() };
  },
  /** To a stranger, through a proxy that is trusted. */
  proxied: () => {
    const dispatcher = createDispatcher({ retry: RETRY, proxy: origin.url });
    const call = (url: string): ReturnType<typeof ownFetch> =>
      ownFetch(url.replace(origin.url, 'http://stranger.invalid'), { dispatcher });
    return { call, close: () => void dispatcher.destroy() };
  },
} as const;

let origin: RawOrigin;
const asked: string[] = [];

before(async () => {
  origin = await startRawOrigin((path) => {
    asked.push(path);
    if (path.endsWith('/relayed')) return [503, 'error-claim: relayed;hops=1\r\n'];
    return path === '/ok' ? [200, ''] : [503, ''];
  });
});

after(() => origin.close());

/** @returns what the caller of the service was told, and how often the callee was asked */
async function through(
  mode: OwnershipMode,
  path: string,
  headers: Record<string, string> = {},
  kind: keyof typeof CALLS = 'layer',
): Promise<[string | null, number]> {
  const installed = installService({ trust: ['127.0.0.0/8'], mode }, { servers: false });
  const { call, close } = CALLS[kind]();
  const server = createServer(
    withOwnership(async (request, response) => {
      const answer = await call(`${origin.url}${request.url ?? ''}`);
      await answer.text();
      response.writeHead(answer.ok ? 200 : 502).end();
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  asked.length = 0;
  const response = await fetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}${path}`, {
    headers,
  });
  await response.text();
  lastText = await servicePrometheusText();
  server.close();
  server.closeAllConnections();
  close();
  installed.uninstall();
  return [response.headers.get('error-claim'), asked.length];
}

let lastText = '';

test('an error that the callee owns is retried once, and relayed', async () => {
  assert.deepEqual(await through('enforce', '/fails'), ['relayed;why=dependency;hops=1', 2]);
  assert.match(lastText, /mulligan_service_retries_total\{inbound="GET \/fails",callee="GET [^"]+\/fails"\} 1/);
});

for (const [mode, count] of [
  ['enforce', 1],
  ['observe', 2],
] as const) {
  test(`the client itself knows which peer claims something: under ${mode} that peer is asked ${count === 1 ? 'once' : 'twice'}`, async () => {
    assert.deepEqual(await through(mode, '/relayed', {}, 'client'), ['relayed;why=dependency;hops=2', count]);
  });
}

test('what a stranger claims is not believed because a proxy of ours passed it on', async () => {
  assert.deepEqual(await through('enforce', '/relayed', {}, 'proxied'), ['relayed;why=dependency;hops=1', 2]);
});

test('an error that the callee relayed is not retried, and relayed', async () => {
  assert.deepEqual(await through('enforce', '/relayed'), ['relayed;why=dependency;hops=2', 1]);
  assert.match(lastText, /retries_suppressed_total\{[^}]*reason="not-owner"\} 1/);
});

test('where claims are observed it is retried, and counted as what enforcing would have saved', async () => {
  assert.equal((await through('observe', '/relayed'))[1], 2);
  assert.match(lastText, /mulligan_service_retries_unsuppressed_total\{[^}]*\} 1/);
});

test('a request that is itself a retry is not retried again', async () => {
  const [claim, count] = await through('enforce', '/fails', { 'request-attempt': 'n=2' });
  assert.deepEqual([claim, count], ['relayed;why=dependency;hops=1', 1]);
});

test('without an installed service the text for a scrape has no series of a service', async () => {
  assert.doesNotMatch(await servicePrometheusText(), /^mulligan_service_calls_total\{/m);
});
