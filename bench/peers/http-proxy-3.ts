// http-proxy-3 at its best: its stream path with a keep-alive agent. Without an agent it opens a connection a request.
// `node http-proxy-3.ts PORT ORIGIN_URL`
import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';

const [port, origin] = process.argv.slice(2);
if (port === undefined || origin === undefined) throw new Error('usage: node http-proxy-3.ts PORT ORIGIN_URL');

const agent = new Agent({ keepAlive: true, maxSockets: 128, maxFreeSockets: 128 });
const proxy = createProxyServer({ target: origin, agent });
// A load generator closes its connections in the middle of requests; without a listener that would end the process.
proxy.on('error', (_error, _request, response) => {
  response.destroy();
});
createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  proxy.web(request, response);
}).listen(Number(port), '127.0.0.1');
