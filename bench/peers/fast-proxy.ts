// fast-proxy at its best: undici pool upstream, one connection a client connection of the load.
// `node fast-proxy.ts PORT ORIGIN_URL`
import { createServer } from 'node:http';
import fastProxy from 'fast-proxy';

const [port, origin] = process.argv.slice(2);
if (port === undefined || origin === undefined) throw new Error('usage: node fast-proxy.ts PORT ORIGIN_URL');

const { proxy } = fastProxy({ base: origin, undici: { connections: 128, pipelining: 1, keepAliveTimeout: 60_000 } });
createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  proxy(request, response, request.url ?? '/', {});
}).listen(Number(port), '127.0.0.1');
