// The origin of bench/memory.ts, a process of its own so that the gateway's memory is measured alone.
// `node body-origin.ts PORT BYTES`: GET answers with a body of that size, PUT reads one and answers with its digest.
import { createServer } from 'node:http';
import { createBody, readSlowly } from './body.ts';

const [port, byteCount] = process.argv.slice(2).map(Number);
if (port === undefined || byteCount === undefined) throw new Error('usage: node body-origin.ts PORT BYTES');

const server = createServer((request, response) => {
  if (request.method === 'PUT') {
    readSlowly(request, byteCount).then(
      (digest) => response.end(JSON.stringify(digest)),
      () => response.destroy(),
    );
    return;
  }
  if (request.url === '/ready') {
    response.end();
    return;
  }
  // Node sends a body without a length in chunks.
  if (request.url === '/sized') response.setHeader('Content-Length', byteCount);
  createBody(byteCount).stream.pipe(response);
});
// 2 GiB take longer than Node grants a request by default on a slow machine.
server.requestTimeout = 0;
server.listen(port, '127.0.0.1');
