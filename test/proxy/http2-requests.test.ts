import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import {
  connectFrames,
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  requestBlock,
} from '../support/http2-frames.ts';
import type { FrameClient } from '../support/http2-frames.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { createSignal } from '../support/signal.ts';
import { startOrigin } from '../support/scripted-origin.ts';

interface Stage {
  readonly origin: ScriptedOrigin;
  readonly client: FrameClient;
  /** The first line for people. */
  line(): Promise<string>;
  readonly records: readonly AccessRecord[];
}

async function stage(t: TestContext): Promise<Stage> {
  const origin = await startOrigin({ do: 'respond' });
  const records: AccessRecord[] = [];
  const lines: string[] = [];
  const signal = createSignal();
  const proxy = createProxy(
    { selectUpstream: () => origin.address },
    {
      onRecord: (record) => void records.push(record),
      diagnostics(_level, text) {
        lines.push(text);
        signal.changed();
      },
    },
  );
  const listener = await proxy.listen('127.0.0.1:0');
  const client = await connectFrames(listener.address.port);
  t.after(async () => {
    client.destroy();
    await proxy.close();
    await origin.close();
  });
  return {
    origin,
    client,
    records,
    line: () => signal.until(() => lines.find((one) => one.startsWith('closed')), { what: 'a line' }),
  };
}

type Fields = readonly (readonly [string, string])[];

const pseudo: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/'],
];

const without = (name: string): Fields => pseudo.filter(([one]) => one !== name);
const instead = (name: string, value: string): Fields => pseudo.map((one) => (one[0] === name ? [name, value] : one));

/** What is answered, and with which status. */
const refused: readonly (readonly [string, Fields, number])[] = [
  ['an unknown method', instead(':method', 'FROB'), 501],
  ['a method in lower case', instead(':method', 'get'), 501],
  [
    'CONNECT',
    [
      [':method', 'CONNECT'],
      [':authority', 'a.test:443'],
    ],
    405,
  ],
  ['a scheme that is not HTTP', instead(':scheme', 'ftp'), 400],
  ['a path with a fragment', instead(':path', '/a#b'), 400],
  ['a path that is longer than a request line may be', instead(':path', `/${'a'.repeat(9000)}`), 414],
  ['a Host that differs from the authority', [...pseudo, ['host', 'b.test']], 400],
  ['an unknown expectation', [...pseudo, ['expect', 'wonders']], 417],
  ['a Content-Length with a leading zero', [...pseudo, ['content-length', '00']], 400],
  ['101 fields', [...pseudo, ...Array.from({ length: 101 }, (_, i) => [`x-${i}`, 'y'] as const)], 431],
  ['a head larger than the limit', [...pseudo, ['x-long', 'y'.repeat(8_100)], ['x-longer', 'y'.repeat(8_100)]], 431],
];

/** What Node's session resets before we see it. */
const reset: readonly (readonly [string, Fields])[] = [
  ['no method', without(':method')],
  ['no scheme', without(':scheme')],
  ['no path', without(':path')],
  ['neither authority nor Host', without(':authority')],
  ['an empty path', instead(':path', '')],
  ['two paths', [...pseudo, [':path', '/b']]],
  ['two authorities', [...pseudo, [':authority', 'b.test']]],
  ['an unknown pseudo-header field', [...pseudo, [':proto', 'x']]],
  ['a pseudo-header field behind others', [...without(':path'), ['x', 'y'], [':path', '/']]],
  ['a response pseudo-header field', [...pseudo, [':status', '200']]],
  ['extended CONNECT', [...instead(':method', 'CONNECT'), [':protocol', 'websocket']]],
  ['an absolute path', instead(':path', 'http://b.test/')],
  ['an authority with user information', instead(':authority', 'user@a.test')],
  ['an authority with a path', instead(':authority', 'a.test/x')],
  ['two Hosts', [...without(':authority'), ['host', 'a.test'], ['host', 'a.test']]],
  ['a Connection field', [...pseudo, ['connection', 'x-secret']]],
  ['a Keep-Alive field', [...pseudo, ['keep-alive', 'timeout=5']]],
  ['a Transfer-Encoding field', [...pseudo, ['transfer-encoding', 'chunked']]],
  ['an Upgrade field', [...pseudo, ['upgrade', 'h2c']]],
  ['a TE other than trailers', [...pseudo, ['te', 'gzip']]],
  ['two different lengths', [...pseudo, ['content-length', '1'], ['content-length', '2']]],
  ['a length that is no number', [...pseudo, ['content-length', '1x']]],
  ['a length without a body', [...pseudo, ['content-length', '5']]],
];

describe('HTTP/2: bad requests', () => {
  for (const [name, fields, status] of refused) {
    test(`${name} is answered ${status}, on its stream alone, and reaches no origin`, async (t) => {
      const { origin, client, records } = await stage(t);
      await client.send(frame(frameTypes.headers, endHeaders | endStream, 1, fieldBlock(fields)));
      assert.equal(await client.status(1), status);
      assert.equal(records[0]?.status, status);
      assert.equal(origin.requestCount(), 0);
      await client.send(frame(frameTypes.headers, endHeaders | endStream, 3, requestBlock('GET', '/next')));
      assert.equal(await client.status(3), 200);
    });
  }

  for (const [name, fields] of reset) {
    test(`${name} resets the stream alone, and reaches no origin`, async (t) => {
      const { origin, client } = await stage(t);
      await client.send(frame(frameTypes.headers, endHeaders | endStream, 1, fieldBlock(fields)));
      await client.waitFor(() => client.resetCode(1) !== undefined, 'the reset');
      assert.equal(origin.requestCount(), 0);
      await client.send(frame(frameTypes.headers, endHeaders | endStream, 3, requestBlock('GET', '/next')));
      assert.equal(await client.status(3), 200);
    });
  }

  for (const [name, field] of [
    ['a name in upper case', ['X-Upper', 'y']],
    ['a name with a space', ['x y', 'z']],
    ['a name with a colon', ['x:y', 'z']],
    ['an empty name', ['', 'z']],
    ['a value with CR LF', ['x-split', 'a\r\nevil: yes']],
    ['a value with NUL', ['x-nul', 'a\0b']],
  ] as const) {
    test(`${name} never reaches an origin`, async (t) => {
      const { origin, client } = await stage(t);
      await client.send(frame(frameTypes.headers, endHeaders | endStream, 1, fieldBlock([...pseudo, field])));
      await client.send(frame(frameTypes.headers, endHeaders | endStream, 3, requestBlock('GET', '/next')));
      assert.equal(await client.status(3), 200);
      for (const { fields } of origin.journal.requests)
        assert.doesNotMatch(JSON.stringify(fields), /evil|x-nul|x y|x:y|X-Upper/);
    });
  }

  test('more DATA than Content-Length says closes the connection, and is counted', async (t) => {
    const { origin, client, line } = await stage(t);
    const head = requestBlock('PUT', '/', [['content-length', '3']]);
    await client.send(
      frame(frameTypes.headers, endHeaders, 1, head),
      frame(frameTypes.data, endStream, 1, Buffer.from('four')),
    );
    await client.waitForClose();
    assert.match(await line(), /^closed a connection of 127.0.0.1: protocol-error/);
    assert.equal(origin.journal.requests.filter((request) => request.complete).length, 0);
  });

  test('less DATA than Content-Length says resets the stream', async (t) => {
    const { origin, client } = await stage(t);
    const head = requestBlock('PUT', '/', [['content-length', '30']]);
    await client.send(
      frame(frameTypes.headers, endHeaders, 1, head),
      frame(frameTypes.data, endStream, 1, Buffer.from('four')),
    );
    await client.waitFor(() => client.resetCode(1) !== undefined, 'the reset');
    assert.equal(origin.journal.requests.filter((request) => request.complete).length, 0);
  });
});

describe('HTTP/2: requests', () => {
  test('an authority becomes Host, and the crumbs of a cookie one field', async (t) => {
    const { origin, client } = await stage(t);
    const crumbs: Fields = [
      ['cookie', 'a=1'],
      ['x', 'y'],
      ['cookie', 'b=2'],
    ];
    await client.send(frame(frameTypes.headers, endHeaders | endStream, 1, requestBlock('GET', '/p?q', crumbs)));
    assert.equal(await client.status(1), 200);
    const request = origin.request();
    assert.equal(request.target, '/p?q');
    assert.deepEqual(request.values('host'), ['a.test']);
    assert.deepEqual(request.values('cookie'), ['a=1; b=2']);
  });

  test('a Host without an authority is the host', async (t) => {
    const { origin, client } = await stage(t);
    const fields: Fields = [...without(':authority'), ['host', 'b.test']];
    await client.send(frame(frameTypes.headers, endHeaders | endStream, 1, fieldBlock(fields)));
    assert.equal(await client.status(1), 200);
    assert.deepEqual(origin.request().values('host'), ['b.test']);
  });

  test('a head in several frames, cut anywhere, is one head', async (t) => {
    const { origin, client } = await stage(t);
    const block = requestBlock('GET', '/pieces');
    const bytes = Buffer.concat([
      frame(frameTypes.headers, endStream, 1, block.subarray(0, 5)),
      frame(frameTypes.continuation, 0, 1, block.subarray(5, 9)),
      frame(frameTypes.continuation, endHeaders, 1, block.subarray(9)),
    ]);
    for (const byte of bytes) await client.send(Buffer.from([byte]));
    assert.equal(await client.status(1), 200);
    assert.equal(origin.request().target, '/pieces');
  });

  test('the record names the protocol', async (t) => {
    const { client, records } = await stage(t);
    await client.send(frame(frameTypes.headers, endHeaders | endStream, 1, requestBlock('GET', '/')));
    assert.equal(await client.status(1), 200);
    assert.equal(records[0]?.protocol, '2');
  });
});
