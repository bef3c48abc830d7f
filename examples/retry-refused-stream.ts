// Retries of one kind only: REFUSED_STREAM, by which an HTTP/2 server proves that it did not process the request
// (RFC 9113 §8.7). That is safe for every method; nothing else is sent again.
import { constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createProxy, createSystemClock, createTransport, createUpstream, parseAddress } from 'mulligan/proxy';

let streams = 0;
const origin = createServer();
origin.on('sessionError', () => {});
origin.on('stream', (stream) => {
  streams += 1;
  stream.on('error', () => {});
  if (streams === 1) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
  if (streams === 3) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  stream.respond({ ':status': 201 });
  stream.end('booked');
});
await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
const { port } = origin.address() as AddressInfo;

const bookings = createUpstream({
  name: 'bookings',
  endpoints: [{ address: parseAddress(`127.0.0.1:${port}`) }],
  transport: createTransport({ clock: createSystemClock(), protocol: 'http2' }),
});
const proxy = createProxy({
  selectUpstream: () => bookings,
  failToConnect: () => ({ type: 'stop' }),
  errorWhileProxy: (_exchange, { kind }) => ({ type: kind === 'request_rejected' ? 'retry' : 'stop' }),
  log: (_exchange, { status, attempts }) =>
    console.log(status, attempts.map((attempt) => attempt.failure ?? attempt.status).join(' then ')),
});
const { address } = await proxy.listen('127.0.0.1:0');

for (const seat of ['1A', '1B']) {
  await fetch(`http://127.0.0.1:${address.port}/seats`, { method: 'POST', body: seat });
}

await proxy.close();
bookings.close();
origin.close();

// Prints:
// 201 request_rejected then 201
// 502 http_protocol_error
