import { Readable } from 'node:stream';
import axios from 'axios';
import { attemptsOf } from '../../../src/client/attempts.ts';
import { wrapAxiosAdapter } from '../../../src/client/axios/wrap-axios-adapter.ts';
import { createDispatcher } from '../../../src/client/dispatcher.ts';
import { fetch } from '../../../src/client/fetch.ts';
import { refusedAddress } from '../../support/addresses.ts';
import { startOrigin } from '../../support/scripted-origin.ts';
import { AS_UNDICI, BUSY, FINE, outcomeOf, RESET, sending, startWire } from './on-the-wire.ts';
import type { PeerCase, PeerSuite } from './peer-case.ts';
import { AT_ONCE, runScripted } from './scripted-fetch.ts';

const POST = { method: 'POST', body: 'pay' } as const;

const UNSAFE: readonly PeerCase[] = [
  {
    name: 'axios-retry #66: a POST is reset after the server read it, 3 retries',
    theirs: 'processed 3 times',
    ours: '1 sent; connection_terminated not-idempotent',
    run: sending({ requests: { do: 'reset', at: 'complete' } }, POST),
  },
  {
    name: '.NET, aspire #4631: a POST that takes too long',
    theirs: 'sent again (the defaults)',
    ours: '1 sent; http_response_timeout not-idempotent',
    run: sending({ do: 'hang' }, POST, {
      retry: { ...(AS_UNDICI.retry as object), on: ['timeout'] },
      timeout: { attemptMs: 30 },
    }),
  },
  {
    name: 'bun #28708: a POST is reset on a connection that was used before',
    theirs: 'sent again, and the body of another answer is delivered',
    ours: '200 “hello world!” success, then connection_terminated not-idempotent; 2 sent',
    async run(t) {
      const wire = await startWire(t, { requests: [FINE, { do: 'reset', at: 'complete' }] });
      const first = await outcomeOf(wire);
      const second = await outcomeOf(wire, POST);
      return `${first}, then ${second}; ${wire.origin.requestCount()} sent`;
    },
  },
  {
    name: 'undici, got, ky: a POST to a port where nobody listens, another origin being there',
    theirs: '1 attempt',
    ours: '200 “hello world!” after 2 attempts, “pay” arrived 1 time',
    why: 'nothing of it was sent',
    async run(t) {
      const refused = `http://${(await refusedAddress({ t })).address}`;
      const origin = await startOrigin(FINE, { t });
      const dispatcher = createDispatcher({ endpoints: [refused, `http://${origin.address}`] });
      t.after(() => dispatcher.destroy());
      const response = await fetch(refused, { ...POST, dispatcher });
      const bodies = origin.journal.requests.map(({ body }) => body.toString());
      const text = await response.text();
      return `${response.status} “${text}” after ${attemptsOf(response)?.attempts.length} attempts, “${bodies[0]}” arrived ${bodies.length} time`;
    },
  },
  {
    name: 'stripe, resend: the key of a POST over its attempts, and of the next one',
    theirs: 'made anew at each attempt, or used for two calls, until it was mended',
    ours: 'the same in 2 attempts, another one after them',
    async run(t) {
      const wire = await startWire(t, { requests: [BUSY, FINE] }, { ...AS_UNDICI, idempotencyKey: true });
      await outcomeOf(wire, POST);
      await outcomeOf(wire, POST);
      const [one, two, three] = wire.origin.journal.requests.map((seen) => seen.value('idempotency-key'));
      return one !== undefined && one === two && one !== three
        ? 'the same in 2 attempts, another one after them'
        : `${one} ${two} ${three}`;
    },
  },
  {
    name: 'stripe-php #637: a key of the caller’s own',
    theirs: 'replaced, until it was mended',
    ours: 'k1, k1',
    async run(t) {
      const wire = await startWire(t, { requests: [BUSY, FINE] }, { ...AS_UNDICI, idempotencyKey: true });
      await outcomeOf(wire, { ...POST, headers: { 'Idempotency-Key': 'k1' } });
      return wire.origin.journal.requests.map((seen) => seen.value('idempotency-key')).join(', ');
    },
  },
  {
    name: 'openai, stripe: x-should-retry: false on a 500',
    theirs: 'obeyed',
    ours: '1 sent; 500 “failed” advised-never',
    run: sending({ ...BUSY, headers: { 'x-should-retry': 'false' } }),
  },
];

const PUT_STREAM = { method: 'PUT', retry: { codes: [404], ...AT_ONCE, maxRetries: 2 } } as const;

const LOST: readonly PeerCase[] = [
  {
    name: 'axios-retry, fetch-retry, anthropic #1170: a stream after a 503',
    theirs: '200, and 0 bytes at the second attempt',
    ours: '2 × “hello”; 200',
    async run(t) {
      const wire = await startWire(t, { requests: [BUSY, FINE] });
      const outcome = await outcomeOf(wire, { method: 'PUT', body: Readable.from(['hello']) });
      const bodies = wire.origin.journal.requests.map(({ body }) => body.toString());
      return `${bodies.length} × “${[...new Set(bodies)].join('”, “')}”; ${outcome.slice(0, 3)}`;
    },
  },
  {
    name: 'got #1382: a stream after a 404 that the policy names',
    theirs: 'later attempts carry nothing',
    ours: '3 × “hello”; 404',
    async run(t) {
      const { origin, url, dispatcher } = await startWire(t, { do: 'respond', status: 404 });
      const response = await fetch(url, { ...PUT_STREAM, body: Readable.from(['hello']), duplex: 'half', dispatcher });
      await response.bytes();
      const bodies = origin.journal.requests.map(({ body }) => body.toString());
      return `${bodies.length} × “${[...new Set(bodies)].join('”, “')}”; ${response.status}`;
    },
  },
  {
    name: 'ky #831: an upload of 1 MiB from a stream',
    theirs: 'all of it is kept in memory',
    ours: '1 sent; 500 “failed” body-not-replayable',
    why: 'at most 64 KiB are kept; beyond, it streams through once',
    run: (t) =>
      sending(BUSY, { method: 'PUT', body: Readable.from(Array.from({ length: 16 }, () => Buffer.alloc(65_536))) })(t),
  },
  {
    name: 'ky #230, getsentry #829: JSON, 500 twice',
    theirs: '“body used already” hides the true error',
    ours: '3 sent; 200 “hello world!” success',
    run: sending({ requests: [BUSY, BUSY, FINE] }, { method: 'PUT', body: '{"a":1}' }),
  },
  {
    name: 'axios-retry #295, #48: an object, 503 twice, and hooks that see the body',
    theirs: 'hooks see an object, then text twice',
    ours: 'hooks saw object; 3 × “{"name":"e"}”; 200',
    why: 'hooks run once a request',
    async run(t) {
      const origin = await startOrigin({ requests: [BUSY, BUSY, FINE] }, { t });
      const options = { retry: { codes: [500], ...AT_ONCE, maxRetries: 2 } };
      const client = axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter('http'), options) });
      const seen: string[] = [];
      client.interceptors.request.use((config) => {
        seen.push(typeof config.data);
        return config;
      });
      const { status } = await client.put(`http://${origin.address}/`, { name: 'e' });
      const bodies = origin.journal.requests.map(({ body }) => body.toString());
      return `hooks saw ${seen.join(', ')}; ${bodies.length} × “${[...new Set(bodies)].join('”, “')}”; ${status}`;
    },
  },
  {
    name: 'got #1489: an answer, and an error after it',
    theirs: 'another attempt after the promise is settled',
    ours: '1 sent; 200 “hello world!” success',
    run: sending({ requests: [{ ...FINE, then: 'reset' }, RESET] }),
  },
];

const COUNTS: readonly PeerCase[] = [
  {
    name: 'Envoy #32580: 1 retry, always 503',
    theirs: '3 requests',
    ours: 'sent at 0, 0 ms; 503 attempts-exhausted at 0 ms',
    run: () => runScripted({ ends: [503], options: { retry: { codes: [503], ...AT_ONCE, maxRetries: 1 } } }),
  },
  {
    name: 'Envoy #32580: 2 retries, always 503',
    theirs: '5 requests',
    ours: 'sent at 0, 0, 0 ms; 503 attempts-exhausted at 0 ms',
    run: () => runScripted({ ends: [503], options: { retry: { codes: [503], ...AT_ONCE, maxRetries: 2 } } }),
  },
  {
    name: 'ky: limit 0',
    theirs: '1 attempt',
    ours: 'sent at 0 ms; 408 attempts-exhausted at 0 ms',
    run: () => runScripted({ ends: [408], options: { retry: { codes: [408], ...AT_ONCE, maxRetries: 0 } } }),
  },
  {
    name: 'ky: retry as a number',
    theirs: '4: 5 attempts',
    ours: 'sent at 0, 25, 75, 175, 375 ms; ECONNREFUSED attempts-exhausted at 375 ms',
    run: () => runScripted({ ends: ['ECONNREFUSED'], options: { retry: 4 } }),
  },
  {
    name: 'ky: an option that is undefined',
    theirs: 'the default',
    ours: 'sent at 0, 25 ms; ECONNREFUSED attempts-exhausted at 25 ms',
    run: () => runScripted({ ends: ['ECONNREFUSED'], options: { retry: { maxRetries: undefined } } }),
  },
  {
    name: 'ky: not on POST',
    theirs: '1 attempt, in silence (#234)',
    ours: 'sent at 0 ms; 500 not-idempotent at 0 ms',
    run: () => runScripted({ ends: [500], options: { retry: { codes: [500] } }, init: { method: 'POST' } }),
  },
  {
    name: 'ky: only the statuses that are named',
    theirs: '1 attempt',
    ours: 'sent at 0 ms; 400 not-retryable at 0 ms',
    run: () => runScripted({ ends: [400], options: { retry: { codes: [500] } } }),
  },
  {
    name: 'p-retry #42: “fetch failed”',
    theirs: 'a fault of the program, and not retried',
    ours: 'sent at 0, 0 ms; 200 success at 0 ms',
    why: 'the chain of causes is read',
    run: () => runScripted({ ends: ['ECONNRESET', 200], options: { retry: { on: ['reset'], ...AT_ONCE } } }),
  },
];

export const UNSAFE_REPEATS: PeerSuite = { title: 'Requests that may have been processed', cases: UNSAFE };
export const LOST_BODIES: PeerSuite = { title: 'Bodies that were lost', cases: LOST };
export const COUNTING: PeerSuite = { title: 'Counting', cases: COUNTS };
