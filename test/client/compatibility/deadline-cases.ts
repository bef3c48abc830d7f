import type { PeerCase, PeerSuite } from './peer-case.ts';
import { AT_ONCE, runScripted } from './scripted-fetch.ts';

const STEADY = { codes: [503], curve: 'fixed', backoffMs: 100, jitter: 'none', maxRetries: 2 } as const;
const SLOW = { ...STEADY, backoffMs: 1000, maxBackoffMs: 1000 } as const;
const ON_TIMEOUT = { ...AT_ONCE, maxRetries: 9, on: ['timeout'] } as const;

const DEADLINES: readonly PeerCase[] = [
  {
    name: 'ky: the total time ends in a wait',
    theirs: 'fails when it is over',
    ours: 'sent at 0 ms; 503 deadline at 0 ms',
    why: 'nothing can come of the wait: the answer is delivered instead of it',
    run: () => runScripted({ ends: [503], options: { retry: SLOW, timeout: 500 } }),
  },
  {
    name: 'ky: the total time ends in an attempt',
    theirs: 'fails when it is over',
    ours: 'sent at 0 ms; deadline_exceeded deadline at 500 ms',
    run: () => runScripted({ ends: ['hang'], options: { retry: STEADY, timeout: 500 } }),
  },
  {
    name: 'ky: the total time ends in the second attempt',
    theirs: 'fails when it is over',
    ours: 'sent at 0, 100 ms; deadline_exceeded deadline at 500 ms',
    run: () => runScripted({ ends: [503, 'hang'], options: { retry: STEADY, timeout: 500 } }),
  },
  {
    name: 'ky: a total time of 0',
    theirs: 'fails at once',
    ours: 'sent at 0, 100, 200 ms; 503 attempts-exhausted at 200 ms',
    why: '0 switches a time off, everywhere',
    run: () => runScripted({ ends: [503], options: { retry: STEADY, timeout: 0 } }),
  },
  {
    name: 'ky: a total time beyond 2³¹−1 ms',
    theirs: 'refused',
    ours: 'refused: timeout.requestMs is 2147483648; give milliseconds from 0 (off) to 2147483647',
    run: () =>
      runScripted({ ends: [503], options: { timeout: 2 ** 31 } }).catch(
        (error: unknown) => `refused: ${(error as Error).message}`,
      ),
  },
  {
    name: 'ky: a timeout of one attempt is not retried unless asked',
    theirs: '1 attempt',
    ours: 'sent at 0 ms; TimeoutError not-retryable at 50 ms',
    run: () => runScripted({ ends: ['hang'], options: { retry: STEADY, timeout: { attemptMs: 50 } } }),
  },
  {
    name: 'ky: a timeout of one attempt is retried where asked',
    theirs: 'another attempt',
    ours: 'sent at 0, 50 ms; 200 success at 50 ms',
    run: () => runScripted({ ends: ['hang', 200], options: { retry: ON_TIMEOUT, timeout: { attemptMs: 50 } } }),
  },
  {
    name: 'got: 300 ms for the request, 2 retries, no answer',
    theirs: '932 ms',
    ours: 'sent at 0 ms; deadline_exceeded deadline at 300 ms',
    why: 'a time for the request covers all its attempts',
    run: () => runScripted({ ends: ['hang'], options: { retry: { ...ON_TIMEOUT, maxRetries: 2 }, timeout: 300 } }),
  },
  {
    name: 'axios-retry: 600 ms, 3 retries, no answer',
    theirs: '1 attempt, 611 ms: the time is shared, which its users do not expect',
    ours: 'sent at 0, 200, 400 ms; deadline_exceeded deadline at 600 ms',
    why: 'both times exist: here 200 for an attempt, 600 for all',
    run: () =>
      runScripted({
        ends: ['hang'],
        options: { retry: { ...ON_TIMEOUT, maxRetries: 3 }, timeout: { attemptMs: 200, requestMs: 600 } },
      }),
  },
  {
    name: 'linkerd #2369: 5 s in all, the target fails at once, for ever',
    theirs: 'retried for five hours',
    ours: 'sent at 0, 1000, 2000, 3000, 4000 ms; 503 deadline at 4000 ms',
    run: () =>
      runScripted({
        ends: [503],
        options: { retry: { ...SLOW, maxRetries: 1000 }, budget: { kind: 'none' }, timeout: 5_000 },
      }),
  },
  {
    name: 'Polly: the time of an attempt above the time of all',
    theirs: 'refused when it is built',
    ours: 'refused: timeout.attemptMs (20) is longer than timeout.requestMs (10); an attempt cannot outlast its request',
    run: () =>
      runScripted({ ends: [503], options: { timeout: { attemptMs: 20, requestMs: 10 } } }).catch(
        (error: unknown) => `refused: ${(error as Error).message}`,
      ),
  },
];

const ABORTS: readonly PeerCase[] = [
  {
    name: 'cockatiel: abort at 100 ms of a wait of 1000 ms',
    theirs: 'rejects at 1005 ms, after a second call',
    ours: 'sent at 0 ms; AbortError downstream-gone at 100 ms',
    run: () => runScripted({ ends: [503], options: { retry: SLOW }, abortAtMs: 100 }),
  },
  {
    name: 'undici #5675, p-retry #97: abort in a wait that the server asked for',
    theirs: 'settled after the wait, until it was mended',
    ours: 'sent at 0 ms; AbortError downstream-gone at 100 ms',
    run: () => runScripted({ ends: [[503, { 'Retry-After': '3' }]], options: { retry: STEADY }, abortAtMs: 100 }),
  },
  {
    name: 'AWS #4871: an abort while an attempt is under way',
    theirs: 'taken for a fault that passes, and retried, until it was mended',
    ours: 'sent at 0 ms; AbortError downstream-gone at 30 ms',
    run: () =>
      runScripted({ ends: ['hang'], options: { retry: ON_TIMEOUT, timeout: { attemptMs: 50 } }, abortAtMs: 30 }),
  },
  {
    name: 'ofetch: the signal of an attempt that timed out is used again',
    theirs: 'every retry dies at once',
    ours: 'sent at 0, 50, 100 ms; 200 success at 100 ms',
    run: () => runScripted({ ends: ['hang', 'hang', 200], options: { retry: ON_TIMEOUT, timeout: { attemptMs: 50 } } }),
  },
];

const PACE: readonly PeerCase[] = [
  {
    name: 'smithy: delays without jitter, 5 attempts (1, 2, 4, 8 s)',
    theirs: '1, 2, 4, 8 s',
    ours: 'sent at 0, 1000, 3000, 7000, 15000 ms; 500 attempts-exhausted at 15000 ms',
    run: () =>
      runScripted({
        ends: [500],
        options: { retry: { codes: [500], backoffMs: 1000, maxBackoffMs: 20_000, jitter: 'none', maxRetries: 4 } },
      }),
  },
  {
    name: 'smithy: the longest delay is 3 s',
    theirs: '1, 2, 3, 3 s',
    ours: 'sent at 0, 1000, 3000, 6000, 9000 ms; 500 attempts-exhausted at 9000 ms',
    run: () =>
      runScripted({
        ends: [500],
        options: { retry: { codes: [500], backoffMs: 1000, maxBackoffMs: 3_000, jitter: 'none', maxRetries: 4 } },
      }),
  },
  {
    name: 'ky: backoffLimit 1000',
    theirs: '300, 600, 1000, 1000 ms',
    ours: 'sent at 0, 300, 900, 1900, 2900 ms; 500 attempts-exhausted at 2900 ms',
    run: () =>
      runScripted({
        ends: [500],
        options: { retry: { codes: [500], backoffMs: 300, maxBackoffMs: 1000, jitter: 'none', maxRetries: 4 } },
      }),
  },
  {
    name: 'undici: minTimeout 100, factor 2 by default',
    theirs: '100, 200 ms',
    ours: 'sent at 0, 100, 300 ms; 500 attempts-exhausted at 300 ms',
    run: () =>
      runScripted({ ends: [500], options: { retry: { codes: [500], backoffMs: 100, jitter: 'none', maxRetries: 2 } } }),
  },
  {
    name: 'cockatiel #86, Polly #2163: a thousand decorrelated delays',
    theirs: 'NaN, or a wait without end, until it was mended',
    ours: 'every wait is within its bounds',
    async run() {
      const told = await runScripted({
        ends: [503],
        options: {
          retry: { codes: [503], backoffMs: 10, maxBackoffMs: 1_000, jitter: 'decorrelated', maxRetries: 1000 },
          budget: { kind: 'none' },
          timeout: 0,
        },
      });
      const at = /sent at ([\d., ]+) ms/.exec(told)![1]!.split(', ').map(Number);
      const waits = at.slice(1).map((ms, i) => ms - at[i]!);
      return waits.length === 1000 && waits.every((ms) => ms >= 9.99 && ms <= 1_000.01)
        ? 'every wait is within its bounds'
        : told;
    },
  },
  {
    name: 'got #2102: a delay of one’s own, limit 2, always 503',
    theirs: 'retried for ever',
    ours: 'sent at 0, 10, 20 ms; 503 attempts-exhausted at 20 ms',
    run: () =>
      runScripted({
        ends: [503],
        options: { retry: { codes: [503], curve: 'fixed', backoffMs: 10, jitter: 'none', maxRetries: 2 } },
      }),
  },
];

export const TIMES: PeerSuite = { title: 'Deadlines and timeouts', cases: DEADLINES };
export const GIVEN_UP: PeerSuite = { title: 'Aborts', cases: ABORTS };
export const PACES: PeerSuite = { title: 'Pace', cases: PACE };
