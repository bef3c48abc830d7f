import { request } from 'undici';
import { isRequestFailedError } from '../../../src/client/errors.ts';
import { AS_UNDICI, BUSY, FINE, outcomeOf, RESET, sending, startWire } from './on-the-wire.ts';
import type { PeerCase, PeerSuite } from './peer-case.ts';
import { runScripted } from './scripted-fetch.ts';

const STATUS: readonly PeerCase[] = [
  {
    name: 'a reset, a 500, a 200',
    theirs: '200 after 3',
    ours: '3 sent; 200 “hello world!” success',
    run: sending({ requests: [RESET, BUSY, FINE] }),
  },
  {
    name: 'the same with the defaults of each',
    theirs: '200 after 3',
    ours: '1 sent; connection_terminated not-retryable',
    why: 'without a word nothing is repeated that may have been processed',
    run: sending({ requests: [RESET, BUSY, FINE] }, {}, {}),
  },
  {
    name: 'five failed look-ups of a name, 5 retries',
    theirs: 'ENOTFOUND after 6',
    ours: 'sent at 0, 0, 0, 0, 0, 0 ms; ENOTFOUND attempts-exhausted at 0 ms',
    run: () => runScripted({ ends: ['ENOTFOUND'], options: { retry: AS_UNDICI.retry, budget: { kind: 'none' } } }),
  },
  {
    name: 'a 400',
    theirs: 'passed on with its body',
    ours: '1 sent; 400 “bad” not-retryable',
    run: sending({ do: 'respond', status: 400, body: 'bad' }),
  },
  {
    name: 'a 304',
    theirs: 'its policy is asked',
    ours: '1 sent; 304 success',
    why: 'it is no failure',
    run: sending({ do: 'respond', status: 304 }),
  },
  {
    name: 'a HEAD whose answer has a Content-Length (#5610)',
    theirs: 'passed on, once it was mended',
    ours: '2 sent; 200 success',
    run: sending(
      {
        requests: [
          { ...BUSY, body: '' },
          { do: 'respond', framing: 'none', headers: { 'Content-Length': '100' } },
        ],
      },
      { method: 'HEAD' },
    ),
  },
  {
    name: 'a 206 of multipart/byteranges without Content-Range',
    theirs: 'passed on',
    ours: '1 sent; 206 “--x--” success',
    run: sending({
      do: 'respond',
      status: 206,
      headers: { 'Content-Type': 'multipart/byteranges; boundary=x' },
      body: '--x--',
    }),
  },
  {
    name: 'a 206 whose Content-Range cannot be read',
    theirs: 'passed on',
    ours: '1 sent; 206 “abc” success',
    run: sending({ do: 'respond', status: 206, headers: { 'Content-Range': 'invalid' }, body: 'abc' }),
  },
  {
    name: '6 answers of 500, 5 retries, without `throwOnError`',
    theirs: 'the last answer with its body',
    ours: '6 sent; 500 “failed” attempts-exhausted',
    run: sending(BUSY),
  },
  {
    name: 'the same by default',
    theirs: 'an exception, the body is lost (#3837)',
    ours: '6 sent; 500 “failed” attempts-exhausted',
    why: 'a refused retry does not change the answer',
    run: sending(BUSY),
  },
  {
    name: 'resets until the retries are used up',
    theirs: 'the error of the connection, with its code',
    ours: 'connection_terminated, ECONNRESET',
    async run(t) {
      const { url, dispatcher } = await startWire(t, RESET, {
        retry: { ...(AS_UNDICI.retry as object), maxRetries: 2 },
      });
      const error: unknown = await request(url, { dispatcher }).catch((thrown: unknown) => thrown);
      if (!isRequestFailedError(error)) throw error;
      return `${error.kind}, ${(error.cause as { code?: string }).code}`;
    },
  },
  {
    name: 'a POST that is answered 503 (#2496)',
    theirs: 'an exception after 1, the body is lost',
    ours: '1 sent; 503 “busy” not-idempotent',
    why: 'what was not retried is passed on as it came',
    run: sending({ do: 'respond', status: 503, body: 'busy' }, { method: 'POST', body: 'x' }),
  },
  {
    name: 'a POST with `idempotent: true`, 503 then 200',
    theirs: '1 attempt: the word is ignored',
    ours: '2 sent; 200 “hello world!” success',
    run: sending({ requests: [BUSY, FINE] }, { method: 'POST', body: 'x', idempotent: true }),
  },
  {
    name: 'an endless body behind a 503',
    theirs: 'no retry in 3 s',
    ours: '2 sent; 200 “hello world!” success',
    why: 'at most 64 KiB and 100 ms are read of it, then its connection is closed',
    run: sending({ requests: [{ do: 'endless', status: 503 }, FINE] }),
  },
  {
    name: 'a connection that serves several attempts',
    theirs: 'is used again',
    ours: '3 requests on 1 connection',
    async run(t) {
      const wire = await startWire(t, { requests: [BUSY, BUSY, FINE] });
      await outcomeOf(wire);
      return `${wire.origin.requestCount()} requests on ${wire.origin.journal.connections.length} connection`;
    },
  },
  {
    name: 'another request on a client with one connection, during a wait of 10 s',
    theirs: 'waits 1.5 s for a backoff of 1.5 s: the connection is held',
    ours: '200 “hello world!” success',
    why: 'no connection is held in a wait',
    async run(t) {
      const wire = await startWire(
        t,
        { requests: [BUSY, FINE] },
        { connections: 1, retry: { codes: [500], backoffMs: 10_000, maxBackoffMs: 10_000, jitter: 'none' } },
      );
      const waiting = outcomeOf(wire);
      await wire.origin.waitForRequest();
      const other = await outcomeOf(wire);
      await wire.dispatcher.destroy();
      await waiting;
      return other;
    },
  },
  {
    name: 'the process has nothing else to do in a wait (#3975)',
    theirs: 'stays for the retry, once it was mended',
    ours: 'a timer keeps it',
    async run(t) {
      const wire = await startWire(t, BUSY, {
        retry: { codes: [500], backoffMs: 60_000, maxBackoffMs: 60_000, jitter: 'none' },
      });
      const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      const before = timers();
      const waiting = outcomeOf(wire);
      await wire.origin.waitForRequest();
      for (let turn = 0; turn < 1_000 && timers() <= before; turn += 1) await new Promise((next) => setImmediate(next));
      const found = timers() > before ? 'a timer keeps it' : 'nothing keeps it';
      await wire.dispatcher.destroy();
      await waiting;
      return found;
    },
  },
];

export const UNDICI_STATUS: PeerSuite = { title: 'undici: statuses, errors, connections', cases: STATUS };
