import { constants, createSecureServer } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { createDispatcher } from '../../../src/client/dispatcher.ts';
import { createTestCertificates } from '../../support/certificates.ts';
import { BUSY, FINE, outcomeOf, sending } from './on-the-wire.ts';
import type { RequestOptions } from './on-the-wire.ts';
import type { PeerCase, PeerSuite } from './peer-case.ts';

const { ca, server: identity } = createTestCertificates();

/** What the server does with a stream that it does not serve. */
type Nack = (stream: ServerHttp2Stream) => void;

const refuse: Nack = (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM);
/** The streams from this one on were not processed (RFC 9113 §6.8). */
const goAway: Nack = (stream) => {
  stream.session?.goaway(constants.NGHTTP2_NO_ERROR, (stream.id ?? 0) - 2);
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
};

/** One request to a server that serves no stream before it has nacked so many. */
const nacked =
  (times: number, nack: Nack, options: RequestOptions = {}, maxRetries = 2): PeerCase['run'] =>
  async (t: TestContext) => {
    const bodies: string[] = [];
    const server = createSecureServer(identity);
    server.on('stream', (stream) => {
      const index = bodies.push('') - 1;
      stream.on('error', () => {});
      if (index < times) return nack(stream);
      stream.on('data', (chunk: Buffer) => (bodies[index] += chunk.toString()));
      stream.on('end', () => {
        stream.respond({ ':status': 200 });
        stream.end('fine');
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    t.after(() => new Promise((closed) => server.close(closed)));
    const dispatcher = createDispatcher({ tls: { ca }, retry: { maxRetries, backoffMs: 0, maxBackoffMs: 0 } });
    t.after(() => dispatcher.destroy());
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const outcome = await outcomeOf({ dispatcher, url }, options);
    const served = bodies.length > times ? `, “${bodies.at(-1)}” served` : '';
    return `${bodies.length} streams${served}; ${outcome}`;
  };

const POST = { method: 'POST', body: 'pay' } as const;

const STREAMS: readonly PeerCase[] = [
  {
    name: 'REFUSED_STREAM once, a GET',
    theirs: 'sent again (undici, gRPC)',
    ours: '2 streams, “” served; 200 “fine” success',
    run: nacked(1, refuse),
  },
  {
    name: 'REFUSED_STREAM once, a POST of text',
    theirs: 'sent again (undici, gRPC)',
    ours: '2 streams, “pay” served; 200 “fine” success',
    run: nacked(1, refuse, POST),
  },
  {
    name: 'REFUSED_STREAM once, a POST of a stream',
    theirs: 'fails (undici)',
    ours: '2 streams, “pay” served; 200 “fine” success',
    why: 'what went out is kept',
    run: (t) => nacked(1, refuse, { method: 'POST', body: Readable.from(['pay']) })(t),
  },
  {
    name: 'REFUSED_STREAM twice, a GET',
    theirs: 'fails (undici, gRPC: once)',
    ours: '3 streams, “” served; 200 “fine” success',
    why: 'as often as the policy says',
    run: nacked(2, refuse),
  },
  {
    name: 'REFUSED_STREAM for ever (#5603, curl #5119)',
    theirs: 'a loop without end, until it was mended',
    ours: '3 streams; request_rejected attempts-exhausted',
    run: nacked(Infinity, refuse),
  },
  {
    name: 'GOAWAY with a last stream below ours, a POST',
    theirs: 'sent again once (undici); fails (grpc-js)',
    ours: '2 streams, “pay” served; 200 “fine” success',
    run: nacked(1, goAway, POST),
  },
  {
    name: 'INTERNAL_ERROR on a stream, a POST',
    theirs: 'fails',
    ours: '1 streams; http_protocol_error not-retryable',
    run: nacked(1, (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), POST),
  },
];

const ANSWERS: readonly PeerCase[] = [
  {
    name: 'a POST that is answered 421',
    theirs: 'passed on (all that were read)',
    ours: '2 sent; 200 “hello world!” success',
    why: 'RFC 9110 §15.5.20: not processed',
    run: sending({ requests: [{ do: 'respond', status: 421 }, FINE] }, POST),
  },
  {
    name: 'a POST that is answered 425',
    theirs: 'passed on (all that were read)',
    ours: '2 sent; 200 “hello world!” success',
    why: 'RFC 8470 §5.2: not processed',
    run: sending({ requests: [{ do: 'respond', status: 425 }, FINE] }, POST),
  },
  {
    name: 'Finagle: a POST that is answered 503 with finagle-http-nack',
    theirs: 'sent again',
    ours: '2 sent; 200 “hello world!” success',
    run: sending({ requests: [{ ...BUSY, status: 503, headers: { 'finagle-http-nack': '1' } }, FINE] }, POST),
  },
  {
    name: 'Finagle: a GET that is answered 503 with finagle-http-nonretryable-nack',
    theirs: 'not sent again',
    ours: '1 sent; 503 “failed” advised-never',
    run: sending({ requests: [{ ...BUSY, status: 503, headers: { 'finagle-http-nonretryable-nack': '1' } }, FINE] }),
  },
];

export const NACKED_STREAMS: PeerSuite = { title: 'Streams that were not processed', cases: STREAMS };
export const NACKED_ANSWERS: PeerSuite = { title: 'Answers that say that nothing was processed', cases: ANSWERS };
