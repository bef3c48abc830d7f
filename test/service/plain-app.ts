/** An application that knows nothing of error ownership, run by `register.test.ts` with `--import`. */
import http, { type IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import { serviceMetrics } from '../../src/service/answering.ts';

const origin = process.env['ORIGIN'] ?? '';
const session = process.env['ORIGIN2'] === undefined ? undefined : http2.connect(process.env['ORIGIN2']);
session?.on('error', () => {});

function viaHttp(path: string, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${origin}${path}`, { method }, (response: IncomingMessage) => {
      response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    request.on('error', reject).end();
  });
}

function viaHttp2(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session!.request({ ':path': path });
    let status = 0;
    stream.on('response', (headers) => (status = headers[':status'] ?? 0));
    stream.on('error', reject).on('end', () => resolve(status));
    stream.resume().end();
  });
}

async function viaFetch(path: string, method = 'GET'): Promise<number> {
  const response = await fetch(`${origin}${path}`, { method });
  await response.text();
  return response.status;
}

async function viaLoop(path: string): Promise<number> {
  const first = await viaFetch(path);
  return first < 500 ? first : viaFetch(path);
}

const CALLS: Readonly<Record<string, (path: string) => Promise<number>>> = {
  http: viaHttp,
  http2: viaHttp2,
  fetch: viaFetch,
  loop: viaLoop,
  post: (path) => viaFetch(path, 'POST'),
  'post-http': (path) => viaHttp(path, 'POST'),
  refused: () => fetch('http://127.0.0.1:1111/').then((response) => response.status),
  'refused-http': () =>
    new Promise((_, reject) => {
      http.get('http://127.0.0.1:1111/').on('error', reject);
    }),
  none: () => Promise.resolve(500),
};

const server = http.createServer((request, response) => {
  const [, kind = '', ...rest] = (request.url ?? '/').split('/');
  if (kind === 'metrics') {
    response.end(JSON.stringify(serviceMetrics() ?? null));
    return;
  }
  const call = CALLS[kind] ?? CALLS['none']!;
  call(`/${rest.join('/')}`).then(
    (status) => {
      // Both ways to write a head: said in so many words, and left to Node. What came from below is not to be passed on.
      if (status < 500) response.end('well');
      else if (kind === 'fetch') response.writeHead(502, { 'Error-Claim': 'relayed;why=stream;hops=42' }).end('failed');
      else {
        response.statusCode = 502;
        response.end('failed');
      }
    },
    () => response.writeHead(503).end('threw'),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : 0 })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
