import { Readable } from 'node:stream';
import { interceptors, request } from 'undici';
import { isRequestFailedError } from '../../../src/client/errors.ts';
import { retry } from '../../../src/client/interceptor/retry.ts';
import { AS_UNDICI, BUSY, FINE, outcomeOf, startWire } from './on-the-wire.ts';
import type { PeerCase, PeerSuite } from './peer-case.ts';

function* generator(): Generator<string> {
  yield 'hello';
  yield 'world';
}

/** The bytes of each attempt, told apart only where they differ. */
const bodiesAfter =
  (method: string, make: () => unknown, headers: Record<string, string> = {}): PeerCase['run'] =>
  async (t) => {
    const wire = await startWire(t, { requests: [BUSY, BUSY, FINE] });
    const outcome = await outcomeOf(wire, { method: method as 'PUT', body: make() as string, headers });
    const bodies = wire.origin.journal.requests.map(({ body }) => body.toString());
    return `${bodies.length} × “${[...new Set(bodies)].join('”, “')}”; ${outcome}`;
  };

const BODIES: readonly PeerCase[] = [
  {
    name: 'PUT of a string',
    theirs: 'sent again',
    ours: '3 × “hello”; 200 “hello world!” success',
    run: bodiesAfter('PUT', () => 'hello'),
  },
  {
    name: 'PUT of a Buffer',
    theirs: 'sent again',
    ours: '3 × “hello”; 200 “hello world!” success',
    run: bodiesAfter('PUT', () => Buffer.from('hello')),
  },
  {
    name: 'POST of a string, with a policy that says yes',
    theirs: 'sent again',
    ours: '1 × “hello”; 500 “failed” not-idempotent',
    why: 'a policy does not make a POST safe; a key does',
    run: bodiesAfter('POST', () => 'hello'),
  },
  {
    name: 'the same with an Idempotency-Key',
    theirs: 'sent again',
    ours: '3 × “hello”; 200 “hello world!” success',
    run: bodiesAfter('POST', () => 'hello', { 'Idempotency-Key': 'k' }),
  },
  {
    name: 'PUT of a Readable',
    theirs: 'refused: the failure of the first attempt, as an exception',
    ours: '3 × “hello”; 200 “hello world!” success',
    why: 'up to a cap, what went out is kept',
    run: bodiesAfter('PUT', () => Readable.from(['hello'])),
  },
  {
    name: 'PUT of a generator (#3288)',
    theirs: '200, and 0 bytes at the second attempt',
    ours: '3 × “helloworld”; 200 “hello world!” success',
    run: bodiesAfter('PUT', generator),
  },
  {
    name: 'POST of a generator',
    theirs: '500, and an exception',
    ours: '1 × “helloworld”; 500 “failed” not-idempotent',
    run: bodiesAfter('POST', generator),
  },
];

/** What a response that breaks after it began came to, and how much of it there was. */
const broken =
  (headers: Record<string, string>): PeerCase['run'] =>
  async (t) => {
    const first = { do: 'respond', body: 'abcdef', headers, cut: { bodyBytes: 3 }, then: 'destroy' } as const;
    const { origin, url, dispatcher } = await startWire(t, { requests: [first, FINE] });
    const { statusCode, body } = await request(url, { dispatcher });
    let text = '';
    const failed = await (async () => {
      for await (const chunk of body) text += String(chunk);
    })().then(
      () => 'whole',
      (error: unknown) => (isRequestFailedError(error) ? error.reason : 'broken'),
    );
    return `${origin.requestCount()} sent; ${statusCode} “${text}” ${failed}`;
  };

const NO_RESUME =
  'an answer that began is never continued by another one: the caller asks for the range that is missing';
const RESUME: readonly PeerCase[] = [
  {
    name: 'a 200 with an ETag that breaks off, then a 206',
    theirs: '“abcdef”, of two answers',
    ours: '1 sent; 200 “abc” committed',
    why: NO_RESUME,
    run: broken({ ETag: '"asd"' }),
  },
  {
    name: 'the same with a weak ETag, or none',
    theirs: 'two answers, without If-Match',
    ours: '1 sent; 200 “abc” committed',
    why: NO_RESUME,
    run: broken({ ETag: 'W/"asd"' }),
  },
  {
    name: 'another ETag, a wrong Content-Range, a longer 206 (#4970), a 200 (#3356), a 404 in answer to the range',
    theirs: 'an error after the first half, one fix each',
    ours: '1 sent; 200 “abc” committed',
    why: NO_RESUME,
    run: broken({}),
  },
];

const ORDER: readonly PeerCase[] = [
  {
    name: 'redirect composed before retry: /a, /b 500, /b 200',
    theirs: 'the hop alone, or the whole way, by the order',
    ours: '/a, /b, /b; 200; history of 2',
    async run(t) {
      const moved = { do: 'respond', status: 302, headers: { Location: '/b' } } as const;
      const { origin, url, dispatcher } = await startWire(t, { requests: [moved, BUSY, FINE] });
      const composed = dispatcher.compose(interceptors.redirect({ maxRedirections: 2 }));
      const { statusCode, body, context } = await request(`${url}a`, { dispatcher: composed });
      await body.dump();
      const { history } = context as unknown as { history: readonly URL[] };
      const targets = origin.journal.requests.map(({ target }) => target).join(', ');
      return `${targets}; ${statusCode}; history of ${history.length}`;
    },
  },
  {
    name: 'two layers of 2 retries each, one on the other',
    theirs: '9 sends',
    ours: '3 sends',
    why: 'the layer below sees that it is asked to retry a retry',
    async run(t) {
      const retries = { retry: { ...(AS_UNDICI.retry as object), maxRetries: 2 } };
      const { origin, url, dispatcher } = await startWire(t, BUSY, retries);
      const { body } = await request(url, { dispatcher: dispatcher.compose(retry(retries) as never) });
      await body.dump();
      return `${origin.requestCount()} sends`;
    },
  },
  {
    name: '100 requests to a dead origin, 5 retries each',
    theirs: '600 sends',
    ours: 'at most 220 sends',
    why: 'the budget: 20 of 100, and a reserve of 10 a second',
    async run(t) {
      const { origin, url, dispatcher } = await startWire(t, { ...BUSY });
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const { body } = await request(url, { dispatcher });
          await body.dump();
        }),
      );
      const count = origin.requestCount();
      return count <= 220 ? 'at most 220 sends' : `${count} sends`;
    },
  },
];

export const UNDICI_BODIES: PeerSuite = { title: 'undici: request bodies, after 500, 500, 200', cases: BODIES };
export const UNDICI_RESUME: PeerSuite = { title: 'undici: answers that break off', cases: RESUME };
export const UNDICI_ORDER: PeerSuite = { title: 'undici: layers', cases: ORDER };
