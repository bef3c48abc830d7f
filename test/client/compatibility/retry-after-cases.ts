import type { PeerCase, PeerSuite } from './peer-case.ts';
import type { ScriptedRequest } from './scripted-fetch.ts';
import { AT_ONCE, runScripted, WALL_MS } from './scripted-fetch.ts';

const inSeconds = (seconds: number): string => new Date(WALL_MS + seconds * 1000).toUTCString();
/** The wait of the policy, where a Retry-After is not one. */
const BACKOFF = 'sent at 0, 100 ms; 200 success at 100 ms';

function later(value: string, field = 'Retry-After', changes: Partial<ScriptedRequest> = {}): () => Promise<string> {
  const retry = { codes: [429], curve: 'fixed', backoffMs: 100, jitter: 'none', retryAfterMaxMs: 600_000 } as const;
  return () => runScripted({ ends: [[429, { [field]: value }], 200], options: { retry }, ...changes });
}

const GRAMMAR: readonly PeerCase[] = [
  {
    name: 'ky: 0',
    theirs: 'at once',
    ours: BACKOFF,
    why: 'a wait is never shorter than our own backoff',
    run: later('0'),
  },
  { name: 'ky: 1', theirs: '1 s', ours: 'sent at 0, 1000 ms; 200 success at 1000 ms', run: later('1') },
  {
    name: 'ky: a large number is seconds, not an instant',
    theirs: 'that many seconds',
    ours: 'sent at 0, 500000 ms; 200 success at 500000 ms',
    run: later('500', 'Retry-After', {
      options: { retry: { codes: [429], jitter: 'none', retryAfterMaxMs: 600_000 }, timeout: 0 },
    }),
  },
  {
    name: 'ky: a date in 3 s',
    theirs: '3 s',
    ours: 'sent at 0, 3000 ms; 200 success at 3000 ms',
    run: later(inSeconds(3)),
  },
  { name: 'ky: a date that has passed', theirs: 'at once', ours: BACKOFF, why: 'as for 0', run: later(inSeconds(-5)) },
  {
    name: 'ky: the date of RFC 850, with two digits for the year',
    theirs: '2 s',
    ours: 'sent at 0, 2000 ms; 200 success at 2000 ms',
    run: later('Sunday, 29-Nov-26 12:00:02 GMT'),
  },
  {
    name: 'ky: the date of asctime',
    theirs: '2 s',
    ours: 'sent at 0, 2000 ms; 200 success at 2000 ms',
    run: later('Sun Nov 29 12:00:02 2026'),
  },
  { name: 'ky: 0x10', theirs: 'not a value: its own delay', ours: BACKOFF, run: later('0x10') },
  { name: 'ky: empty', theirs: 'not a value: its own delay', ours: BACKOFF, run: later('') },
  { name: 'ky: 1.5', theirs: 'not a value: its own delay', ours: BACKOFF, run: later('1.5') },
  { name: 'ky: an ISO date', theirs: 'not a value: its own delay', ours: BACKOFF, run: later('2026-11-29T12:00:09Z') },
  {
    name: 'ky: a date with an impossible part',
    theirs: 'not a value: its own delay',
    ours: BACKOFF,
    run: later('Sun, 31 Feb 2026 12:00:09 GMT'),
  },
  { name: 'ky: text', theirs: 'not a value: its own delay', ours: BACKOFF, run: later('not-a-valid-value') },
  {
    name: 'ky: RateLimit-Reset in place of Retry-After',
    theirs: '1 s',
    ours: BACKOFF,
    why: 'no standard says what it counts; Retry-After alone is obeyed',
    run: later('1', 'RateLimit-Reset'),
  },
  { name: 'undici: bad Retry-After date', theirs: 'its own delay', ours: BACKOFF, run: later('this is not a date') },
  { name: 'undici: 0x1', theirs: '1 s', ours: BACKOFF, why: 'RFC 9110 knows digits only', run: later('0x1') },
  { name: 'undici: 1e0', theirs: '1 s', ours: BACKOFF, why: 'RFC 9110 knows digits only', run: later('1e0') },
  { name: 'undici: -5', theirs: 'its own delay', ours: BACKOFF, run: later('-5') },
  {
    name: 'AWS, openai: x-amz-retry-after, retry-after-ms',
    theirs: 'obeyed',
    ours: BACKOFF,
    why: 'private fields; a classifier can read them',
    run: later('1000', 'retry-after-ms'),
  },
  {
    name: 'a server whose clock is an hour ahead, and says so in Date',
    theirs: 'an hour and 2 s (all that were read)',
    ours: 'sent at 0, 2000 ms; 200 success at 2000 ms',
    why: 'the date is compared with the response’s own',
    run: later('', 'x', { ends: [[429, { 'Retry-After': inSeconds(3602), Date: inSeconds(3600) }], 200] }),
  },
];

const busy = (value: string, status = 503): ScriptedRequest['ends'] => [[status, { 'Retry-After': value }], 200];
const retry = { codes: [429, 503], jitter: 'none', ...AT_ONCE } as const;

const BOUNDS: readonly PeerCase[] = [
  {
    name: 'longer than the cap (undici, ky, AWS)',
    theirs: 'retried before the server asked, at the cap',
    ours: 'sent at 0 ms; 503 retry-after-too-long at 0 ms',
    why: 'never earlier than asked: the answer is delivered at once',
    run: () => runScripted({ ends: busy('2'), options: { retry: { ...retry, retryAfterMaxMs: 200 } } }),
  },
  {
    name: 'longer than the cap (got)',
    theirs: 'gives up at once',
    ours: 'sent at 0 ms; 503 retry-after-too-long at 0 ms',
    run: () => runScripted({ ends: busy('2'), options: { retry: { ...retry, retryAfterMaxMs: 1_999 } } }),
  },
  {
    name: 'as long as the cap (openai #1924)',
    theirs: 'too long, until it was mended',
    ours: 'sent at 0, 60000 ms; 200 success at 60000 ms',
    run: () => runScripted({ ends: busy('60'), options: { retry: { ...retry, retryAfterMaxMs: 60_000 } } }),
  },
  {
    name: '3600 with 2 s left (openai #1840)',
    theirs: 'sleeps for an hour',
    ours: 'sent at 0 ms; 429 retry-after-too-long at 0 ms',
    run: () => runScripted({ ends: busy('3600', 429), options: { retry, timeout: 2_000 } }),
  },
  {
    name: '5 with 2 s left, the cap being longer',
    theirs: 'waits in vain (ky before its totalTimeout)',
    ours: 'sent at 0 ms; 503 retry-after-too-long at 0 ms',
    run: () => runScripted({ ends: busy('5'), options: { retry, timeout: 2_000 } }),
  },
  {
    name: 'ky: Retry-After on a 413',
    theirs: 'obeyed',
    ours: 'sent at 0, 1000 ms; 200 success at 1000 ms',
    run: () => runScripted({ ends: busy('1', 413), options: { retry: { ...retry, codes: [413] } } }),
  },
  {
    name: 'ky: a 413 without Retry-After',
    theirs: 'not retried',
    ours: 'sent at 0 ms; 413 not-retryable at 0 ms',
    run: () => runScripted({ ends: [413, 200], options: { retry } }),
  },
  {
    name: 'ky, undici: each answer has its own Retry-After',
    theirs: 'each is obeyed',
    ours: 'sent at 0, 1000, 3000 ms; 200 success at 3000 ms',
    run: () =>
      runScripted({
        ends: [[429, { 'Retry-After': '1' }], [503, { 'Retry-After': '2' }], 200],
        options: { retry: { ...retry, maxRetries: 2 } },
      }),
  },
  {
    name: 'undici: `retryAfter: false`',
    theirs: 'its own delay',
    ours: 'sent at 0, 1000 ms; 200 success at 1000 ms',
    why: 'there is no such option: a server that asks for time gets it',
    run: () => runScripted({ ends: busy('1'), options: { retry } }),
  },
];

export const RETRY_AFTER: PeerSuite = { title: 'Retry-After: what is one', cases: GRAMMAR };
export const RETRY_AFTER_BOUNDS: PeerSuite = { title: 'Retry-After: when it is too long', cases: BOUNDS };
