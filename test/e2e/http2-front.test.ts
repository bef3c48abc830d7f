import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { createTestCertificates } from '../support/certificates.ts';
import { ask, begin, connectHttp2 } from '../support/http2-client.ts';
import type { Http2Answer } from '../support/http2-client.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { gatewayFile, startGateway } from '../support/running-gateway.ts';
import type { RunningGateway } from '../support/running-gateway.ts';

failOnLeaks();

const { ca, server } = createTestCertificates();
const folder = mkdtempSync(join(tmpdir(), 'mulligan-http2-front-'));
after(() => rmSync(folder, { recursive: true }));
const tls = { cert: join(folder, 'server.pem'), key: join(folder, 'server.key') };
writeFileSync(tls.cert, server.cert);
writeFileSync(tls.key, server.key);

/** The rules that HTTP/1.1 clients get, asked for over HTTP/2. */
const bold = { retry: { attempts: 2, codes: [503], on: ['unsent', 'stale', 'reset', 'timeout'], backoff: '1ms' } };

interface Question {
  readonly name: string;
  readonly method: string;
  readonly body?: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** It may be sent again when it may have been processed. */
  readonly repeatable: boolean;
}

const questions: readonly Question[] = [
  { name: 'GET', method: 'GET', repeatable: true },
  { name: 'PUT', method: 'PUT', body: 'body', repeatable: true },
  { name: 'POST', method: 'POST', body: 'body', repeatable: false },
  { name: 'keyed POST', method: 'POST', body: 'body', fields: { 'idempotency-key': '"k1"' }, repeatable: true },
];

interface Stage {
  readonly origins: readonly ScriptedOrigin[];
  readonly gateway: RunningGateway;
  readonly client: ReturnType<typeof connectHttp2>;
  answer(question: Question): Promise<Http2Answer>;
}

async function stage(t: TestContext, scripts: readonly OriginScript[], deadFirst = false): Promise<Stage> {
  const origins = await Promise.all(scripts.map((script) => startOrigin(script, { t })));
  if (deadFirst) await origins[0]?.stopListening();
  const addresses = origins.map((origin) => origin.address);
  const gateway = await startGateway(
    t,
    gatewayFile(addresses, { route: bold, top: { listeners: [{ address: '127.0.0.1:0', tls }] } }),
  );
  const client = connectHttp2(gateway.port, { t, ca });
  t.after(() => client.destroy());
  return { origins, gateway, client, answer: (question) => ask(client, question) };
}

for (const question of questions) {
  const { name, repeatable } = question;

  test(`${name} that is refused goes to the next endpoint`, async (t) => {
    const { origins, answer, gateway } = await stage(t, [{}, { do: 'respond', body: 'second' }], true);
    assert.equal((await answer(question)).text, 'second');
    assert.equal(origins[1]?.requestCount(), 1);
    assert.deepEqual([(await gateway.record()).retryAttempts, (await gateway.record()).protocol], [1, '2']);
  });

  test(`${name} whose connection is reset is ${repeatable ? 'sent again' : 'answered 502, and sent once'}`, async (t) => {
    const { origins, answer } = await stage(t, [{ do: 'reset' }, { do: 'respond', body: 'second' }]);
    const { status } = await answer(question);
    assert.deepEqual(
      [status, origins[0]?.requestCount(), origins[1]?.requestCount()],
      repeatable ? [200, 1, 1] : [502, 1, 0],
    );
  });

  test(`${name} that is answered 503 is ${repeatable ? 'sent again' : 'given that answer with its body'}`, async (t) => {
    const { origins, answer } = await stage(t, [
      { do: 'respond', status: 503, body: 'busy' },
      { do: 'respond', body: 'second' },
    ]);
    const { status, text } = await answer(question);
    assert.deepEqual([status, text, origins[1]?.requestCount()], repeatable ? [200, 'second', 1] : [503, 'busy', 0]);
  });

  test(`${name} whose answer is cut is reset, and sent once`, async (t) => {
    const cut = { do: 'respond', declaredBytes: 100, body: 'only this', then: 'reset' } as const;
    const { origins, answer, gateway } = await stage(t, [cut, { do: 'respond' }]);
    assert.equal((await answer(question)).resetCode, 2);
    assert.deepEqual([origins[0]?.requestCount(), origins[1]?.requestCount()], [1, 0]);
    assert.equal((await gateway.record()).truncated, true);
  });

  test(`${name} that its client resets ends at the origin, and is sent once`, async (t) => {
    const { origins, client, gateway } = await stage(t, [{ do: 'hang' }, { do: 'respond' }]);
    const stream = begin(client, question);
    await origins[0]?.waitForRequest();
    stream.close(8);
    await origins[0]?.waitForNoConnection();
    const { status, reason } = await gateway.record();
    assert.deepEqual([status, reason], [499, 'downstream-gone']);
    assert.deepEqual([origins[0]?.requestCount(), origins[1]?.requestCount()], [1, 0]);
  });
}

test('clients that leave before their answer earn no retries for others', async (t) => {
  const { origins, client, gateway } = await stage(t, [{ do: 'hang' }]);
  for (let count = 0; count < 20; count += 1) {
    const stream = begin(client);
    await origins[0]?.waitForRequest(count + 1);
    stream.close(8);
    await gateway.record(count + 1);
  }
  assert.equal(origins[0]?.requestCount(), 20);
  assert.deepEqual([...new Set(gateway.records.map(({ retryAttempts }) => retryAttempts))], [0]);
});
