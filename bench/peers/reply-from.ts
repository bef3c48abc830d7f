// @fastify/reply-from at its best: no logger, undici pool upstream.
// `node reply-from.ts PORT ORIGIN_URL`
import replyFrom from '@fastify/reply-from';
import fastify from 'fastify';

const [port, origin] = process.argv.slice(2);
if (port === undefined || origin === undefined) throw new Error('usage: node reply-from.ts PORT ORIGIN_URL');

const app = fastify({ logger: false, keepAliveTimeout: 65_000 });
app.register(replyFrom, { base: origin, undici: { connections: 128, pipelining: 1, keepAliveTimeout: 60_000 } });
app.all('/*', (_request, reply) => {
  reply.from();
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
