import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { ACCEPTED_REQUESTS, REFUSED_REQUESTS } from '../../http1/request-fixtures.ts';
import { malformedRequests } from '../../support/malformed.ts';
import { createMessageReader } from '../../support/message-reader.ts';
import { fieldValues } from '../../support/fields.ts';

/** What a client says to the proxy. */
export interface SaidRequest {
  readonly name: string;
  readonly bytes: string;
}

const odd = (line: string, fields = '', body = ''): string =>
  `${line} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n${body}`;

/** Legal, and nothing that a browser would send. */
const oddRequests: readonly SaidRequest[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'QUERY', 'PROPFIND', 'REPORT'].flatMap((method) => [
    { name: `${method} without a body`, bytes: odd(`${method} /a`) },
    { name: `${method} with a body of known length`, bytes: odd(`${method} /a`, 'Content-Length: 5\r\n', 'hello') },
    {
      name: `${method} in chunks`,
      bytes: odd(`${method} /a`, 'Transfer-Encoding: chunked\r\n', '2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-Sum: 1\r\n\r\n'),
    },
  ]),
  ...[
    '/',
    '/?',
    '/?a=b&c',
    '/a%20b',
    '/%2e',
    '/a;b=c',
    '/a//b',
    '/~a',
    '/a,b',
    '/(a)',
    "/a'b",
    '/a!b$c',
    '/a*b',
    '/a@b:c',
    '/?/?',
    '/a?b=%00',
    '/%e2%82%ac',
    '/a=b',
    '/a+b',
  ].map((target) => ({ name: `target ${target}`, bytes: odd(`GET ${target}`) })),
  ...[
    ['an empty value', 'X-Empty:\r\n'],
    ['obs-text in a value', 'X-Obs: caf\xe9\r\n'],
    ['a name of every token character', "a!#$%&'*+-.^_`|~9: x\r\n"],
    ['two fields of one name', 'X-A: 1\r\nX-A: 2\r\n'],
    ['an underscore for a hyphen', 'Content_Length: 9\r\n'],
    ['a coding by another name', 'X-Transfer-Encoding: chunked\r\n'],
    ['Connection: close', 'Connection: close\r\n'],
    ['Connection that nominates', 'Connection: x-a\r\nX-A: 1\r\n'],
    ['TE: trailers', 'TE: trailers\r\n'],
    ['Upgrade', 'Connection: upgrade\r\nUpgrade: websocket\r\n'],
    ['a long value', `X-Long: ${'x'.repeat(4_000)}\r\n`],
    ['60 fields', Array.from({ length: 60 }, (_, index) => `X-${index}: y\r\n`).join('')],
    ['Max-Forwards', 'Max-Forwards: 3\r\n'],
    ['a Cookie in two fields', 'Cookie: a=b\r\nCookie: c=d\r\n'],
    ['Content-Type without a body', 'Content-Type: text/plain\r\n'],
  ].map(([name, fields]) => ({ name: `a GET with ${name}`, bytes: odd('GET /a', fields) })),
  ...[1, 15, 16, 255, 4_096, 70_000].flatMap((size) => [
    { name: `a body of ${size} bytes`, bytes: odd('POST /a', `Content-Length: ${size}\r\n`, 'x'.repeat(size)) },
    {
      name: `a chunk of ${size} bytes`,
      bytes: odd(
        'POST /a',
        'Transfer-Encoding: chunked\r\n',
        `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`,
      ),
    },
  ]),
  {
    name: 'a body that spells a request',
    bytes: odd('POST /a', 'Content-Length: 33\r\n', 'GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n'),
  },
  { name: 'a body that spells chunks', bytes: odd('POST /a', 'Content-Length: 5\r\n', '0\r\n\r\n') },
];

export const saidRequests: readonly SaidRequest[] = [
  ...oddRequests,
  ...ACCEPTED_REQUESTS.map(({ why, text }) => ({ name: why, bytes: text })),
  ...REFUSED_REQUESTS.map(({ why, text }) => ({ name: why, bytes: text })),
  ...malformedRequests.map(({ name, bytes }) => ({ name, bytes })),
];

/** An origin that keeps the bytes of each connection; every answer ends one, so that each holds one request of the proxy. */
export interface CapturingOrigin {
  readonly address: string;
  readonly captured: { bytes: Buffer; complete: boolean }[];
  close(): Promise<void>;
}

export async function startCapturingOrigin(): Promise<CapturingOrigin> {
  const captured: CapturingOrigin['captured'] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    const entry = { bytes: Buffer.alloc(0) as Buffer, complete: false };
    captured.push(entry);
    const reader = createMessageReader({
      begin() {},
      head: (_line, fields) => framingOf(fields),
      body() {},
      complete() {
        entry.complete = true;
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      },
      fault: () => socket.destroy(),
    });
    socket.on('data', (chunk: Buffer) => {
      entry.bytes = Buffer.concat([entry.bytes, chunk]);
      reader.push(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    captured,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string;
}

/** The one request in these bytes, by a strict reader; undefined when it is not exactly one. */
export function readOne(bytes: Buffer): ReadRequest | undefined {
  const found: { method: string; target: string; body: string }[] = [];
  let completeCount = 0;
  const reader = createMessageReader({
    begin: () => void found.push({ method: '', target: '', body: '' }),
    head(line, fields) {
      const [method = '', target = ''] = line.split(' ');
      Object.assign(found.at(-1)!, { method, target });
      return framingOf(fields);
    },
    body: (chunk) => void (found.at(-1)!.body += chunk.toString('latin1')),
    complete: () => void (completeCount += 1),
    fault: () => void found.push({ method: '', target: '', body: '' }),
  });
  reader.push(bytes);
  return found.length === 1 && completeCount === 1 ? found[0] : undefined;
}

function framingOf(fields: string[]): { kind: 'none' | 'chunked' } | { kind: 'length'; bytes: number } {
  if (fieldValues(fields, 'transfer-encoding').length > 0) return { kind: 'chunked' };
  const [length] = fieldValues(fields, 'content-length');
  return length === undefined ? { kind: 'none' } : { kind: 'length', bytes: Number(length) };
}
