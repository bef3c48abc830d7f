import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { startHttp2Origin } from '../support/http2-origin.ts';
import { gatewayFile, startGateway, startRig } from '../support/running-gateway.ts';

failOnLeaks();

const RETRY = { retry: { codes: [503], attempts: 1, backoff: '1ms' } };
const CLAIM_NAMES = ['error-claim', 'x-uber-error-claim', 'error_claim', 'x_uber_error_claim'];

/** Fields of an answer of 503, how often it is sent when its sender is trusted, and what is noted of the claim. */
interface Attack {
  readonly name: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly sends: 1 | 2;
  readonly noted: string | undefined;
}

const attacks: readonly Attack[] = [
  { name: 'a claim that relays', fields: [['error-claim', 'relayed']], sends: 1, noted: undefined },
  {
    name: 'a claim that owns: no retry beyond the policy',
    fields: [['error-claim', 'owned;retry=after']],
    sends: 2,
    noted: undefined,
  },
  {
    name: 'two claims',
    fields: [
      ['error-claim', 'relayed'],
      ['error-claim', 'relayed'],
    ],
    sends: 2,
    noted: 'garbled',
  },
  { name: 'two claims in one field', fields: [['error-claim', 'relayed, owned']], sends: 2, noted: 'garbled' },
  { name: 'a word that nobody knows', fields: [['error-claim', 'disputed']], sends: 2, noted: 'garbled' },
  { name: 'a number', fields: [['error-claim', '1']], sends: 2, noted: 'garbled' },
  { name: 'nothing', fields: [['error-claim', '']], sends: 2, noted: 'garbled' },
  { name: 'half a parameter', fields: [['error-claim', 'relayed;why=']], sends: 2, noted: 'garbled' },
  { name: 'letters beyond ASCII', fields: [['error-claim', 'relayed;source="\u00e9"']], sends: 2, noted: 'garbled' },
  { name: '8 KiB', fields: [['error-claim', `relayed;source="${'x'.repeat(8192)}"`]], sends: 2, noted: 'garbled' },
  {
    name: 'more parameters than there are',
    fields: [['error-claim', 'relayed;a;b;c;d;e;f;g;h;i']],
    sends: 2,
    noted: 'garbled',
  },
  { name: 'hops without end', fields: [['error-claim', 'relayed;hops=999999999999999']], sends: 1, noted: undefined },
  { name: 'a look-alike', fields: [['error_claim', 'relayed']], sends: 2, noted: undefined },
  {
    name: 'a look-alike of the older field',
    fields: [['x_uber_error_claim', 'UNCLAIMED']],
    sends: 2,
    noted: undefined,
  },
  { name: 'the older field in other words', fields: [['x-uber-error-claim', 'unclaimed']], sends: 2, noted: 'garbled' },
  {
    name: 'names of every object',
    fields: [['error-claim', 'relayed;__proto__=1;constructor=2']],
    sends: 2,
    noted: 'garbled',
  },
];

for (const { name, fields, sends, noted } of attacks) {
  test(`over HTTP/1.1, ${name}: no crash, no added retry, nothing beyond the edge`, async (t) => {
    const head = fields.map(([field, value]) => `${field}: ${value}\r\n`).join('');
    const script = { do: 'raw', bytes: `HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n${head}\r\n` } as const;
    const { origin, client, gateway } = await startRig(t, script, { upstream: { ownership: 'trusted' }, route: RETRY });
    const response = await client.request({});
    assert.deepEqual([response.status, origin.requestCount()], [503, sends]);
    for (const field of CLAIM_NAMES) assert.equal(response.value(field), undefined, field);
    assert.equal((await gateway.record()).attempts[0]?.claimRefused, noted);
    assert.equal((await client.request({ method: 'POST', body: 'x' })).status, 503);
    assert.equal(origin.requestCount(), sends + 1);
  });

  test(`over HTTP/2, ${name}: no crash, no added retry, nothing beyond the edge`, async (t) => {
    const origin = await startHttp2Origin(t, (stream) => stream.head(503, fields, true));
    const parts = { upstream: { ownership: 'trusted', protocol: 'http2' }, route: RETRY };
    const gateway = await startGateway(t, gatewayFile([origin.key], parts));
    const client = await gateway.connect();
    const response = await client.request({});
    assert.ok(response.status >= 500, String(response.status));
    assert.ok(origin.streams.length <= sends, String(origin.streams.length));
    for (const field of CLAIM_NAMES) assert.equal(response.value(field), undefined, field);
  });
}

test('a claim in trailers is not passed on, by its name or by one that looks like it', async (t) => {
  const trailers = 'Error-Claim: relayed\r\nerror_claim: relayed\r\nX-Uber-Error-Claim: CLAIMED\r\nX-Sum: abc\r\n';
  const bytes = `HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n1\r\na\r\n0\r\n${trailers}\r\n`;
  const { client } = await startRig(t, { do: 'raw', bytes }, { top: { ownership: { trust: ['127.0.0.1'] } } });
  const response = await client.request({ headers: { TE: 'trailers' } });
  assert.deepEqual(response.trailers, ['X-Sum', 'abc']);
});

test('a claim in an interim answer is not passed on', async (t) => {
  const bytes =
    'HTTP/1.1 103 Early Hints\r\nError-Claim: relayed\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
  const { client } = await startRig(t, { do: 'raw', bytes });
  const response = await client.request({});
  assert.equal(response.status, 200);
  assert.equal(response.interim.length, 1);
  assert.ok(!JSON.stringify(response.interim).includes('relayed'));
});

test('a claim on a success says nothing, and goes no further', async (t) => {
  const { client, gateway } = await startRig(
    t,
    { do: 'respond', headers: { 'Error-Claim': 'relayed' } },
    { top: { ownership: { trust: ['127.0.0.1'] } } },
  );
  const response = await client.request({});
  assert.deepEqual([response.status, response.value('error-claim')], [200, undefined]);
  assert.equal((await gateway.record()).claimIn, undefined);
});

test('gRPC: a claim in a response that is a head only is read, and one is made for a trusted caller', async (t) => {
  const fields = [
    ['content-type', 'application/grpc'],
    ['grpc-status', '14'],
    ['error-claim', 'relayed;why=timeout'],
  ] as const;
  const origin = await startHttp2Origin(t, (stream) => stream.head(200, fields, true));
  const gateway = await startGateway(
    t,
    gatewayFile([origin.key], {
      upstream: { protocol: 'http2' },
      route: { retry: { codes: [{ grpc: ['unavailable'] }], attempts: 2, backoff: '1ms' } },
      top: { ownership: { trust: ['127.0.0.1'] } },
    }),
  );
  const client = await gateway.connect();
  const response = await client.request({ method: 'POST', body: 'x', headers: { 'Idempotency-Key': '"1"' } });
  assert.deepEqual([response.status, origin.streams.length], [200, 1]);
  assert.equal(response.value('error-claim'), 'relayed;why=timeout;hops=1');
  assert.equal((await gateway.record()).reason, 'not-owner');
});
