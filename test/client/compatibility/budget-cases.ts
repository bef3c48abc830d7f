import { createBudget } from '../../../src/client/options.ts';
import type { RetryBudget } from '../../../src/core/retry-budget.ts';
import type { PeerCase, PeerSuite } from './peer-case.ts';
import { AT_ONCE, runScripted } from './scripted-fetch.ts';

const none = { count: 0, intervalMs: 1000 };
const bucket = (percent: number, intervalMs: number, count = 0): RetryBudget =>
  createBudget({ kind: 'token-bucket', percent, intervalMs, minRetryRate: { count, intervalMs: 1000 } });

/** So many retries and no more: a reserve, and nothing that fills it. */
const reserve = (count: number): RetryBudget =>
  createBudget({ kind: 'token-bucket', percent: 20, intervalMs: 1000, minRetryRate: { count, intervalMs: 1000 } });

function withdrawn(budget: RetryBudget, nowMs: number): number {
  let count = 0;
  while (count < 20_000 && budget.withdraw(nowMs)) count += 1;
  return count;
}

const TOWER: readonly PeerCase[] = [
  {
    name: 'empty: no deposit, no reserve',
    theirs: 'no withdrawal',
    ours: '0 withdrawn',
    run: () => `${withdrawn(bucket(100, 1000), 0)} withdrawn`,
  },
  {
    name: 'leaky: a deposit, then 3 s in a window of 1 s',
    theirs: 'no withdrawal',
    ours: '0 withdrawn',
    run() {
      const budget = bucket(100, 1000);
      budget.deposit(0);
      return `${withdrawn(budget, 3000)} withdrawn`;
    },
  },
  {
    name: 'slots: two deposits at 50 %, withdrawn 901 ms later',
    theirs: '1 withdrawal',
    ours: '1 withdrawn',
    run() {
      const budget = bucket(50, 1000);
      budget.deposit(0);
      budget.deposit(0);
      return `${withdrawn(budget, 901)} withdrawn`;
    },
  },
  {
    name: 'slots: deposits at 2902, 3203 and 4004 ms: the first one has expired',
    theirs: '1 withdrawal',
    ours: '1 withdrawn',
    run() {
      const budget = bucket(50, 1000);
      for (const atMs of [2902, 3203, 4004]) budget.deposit(atMs);
      return `${withdrawn(budget, 4004)} withdrawn`;
    },
  },
  {
    name: 'reserve: 5 a second, no deposit',
    theirs: '5 withdrawals',
    ours: '5 withdrawn',
    run: () => `${withdrawn(bucket(100, 1000, 5), 0)} withdrawn`,
  },
  {
    name: 'tower #857: 60 % of 1000 requests',
    theirs: '1000: a fraction is cut off on the way',
    ours: '600 withdrawn',
    why: 'percents are exact',
    run() {
      const budget = bucket(60, 10_000);
      for (let i = 0; i < 1000; i += 1) budget.deposit(0);
      return `${withdrawn(budget, 0)} withdrawn`;
    },
  },
  {
    name: 'reqwest: 0 % and the default reserve',
    theirs: '100 withdrawals',
    ours: '0 withdrawn',
    why: '0 % is zero retries',
    run: () => `${withdrawn(createBudget({ kind: 'token-bucket', percent: 0 }), 0)} withdrawn`,
  },
];

const PERCENTS = [0, 1, 5, 10, 20, 25, 33, 50, 75, 100];
const EXACT = PERCENTS.map((percent) => percent * 100).join(', ');

const FINAGLE: readonly PeerCase[] = [
  {
    name: '10 000 requests at 0, 1, 5, 10, 20, 25, 33, 50, 75 and 100 %, without a reserve',
    theirs: 'each within 1 of its share',
    ours: EXACT,
    run: () =>
      PERCENTS.map((percent) => {
        const budget = createBudget({ kind: 'ratio', percent, minRetryRate: none });
        let granted = 0;
        for (let i = 0; i < 10_000; i += 1) {
          budget.deposit(0);
          if (budget.withdraw(0)) granted += 1;
        }
        return granted;
      }).join(', '),
  },
  {
    name: 'the balance never falls below nothing',
    theirs: '0',
    ours: '0',
    run() {
      const budget = createBudget({ kind: 'ratio', percent: 50, minRetryRate: none });
      budget.deposit(0);
      budget.deposit(0);
      budget.withdraw(0);
      budget.withdraw(0);
      return String(budget.balance(0));
    },
  },
  {
    name: '#956: a request that was retried twice and then succeeds',
    theirs: 'deposited twice, until it was mended',
    ours: 'balance 100 before, 98 after; 98 after a second one that needs none',
    run: async () => {
      const budget = createBudget({ kind: 'token-bucket', percent: 20 });
      const before = budget.balance(0);
      const options = { budget, retry: { codes: [503], ...AT_ONCE, maxRetries: 5 } };
      await runScripted({ ends: [503, 503, 200], options });
      const after = budget.balance(0);
      await runScripted({ ends: [200], options });
      return `balance ${before} before, ${after} after; ${budget.balance(0)} after a second one that needs none`;
    },
  },
  {
    name: 'Envoy #30205: 100 calls fail together, 20 %, a long backoff',
    theirs: 'retries that wait are not counted: any number',
    ours: '20 wait',
    run() {
      const budget = createBudget({ kind: 'ratio', percent: 20, minRetryRate: none });
      for (let i = 0; i < 100; i += 1) budget.deposit(0);
      return `${withdrawn(budget, 0)} wait`;
    },
  },
  {
    name: 'a retry that is decided and not sent (abort in the wait)',
    theirs: 'withdrawn for nothing (most)',
    ours: 'balance 100',
    why: 'it is given back',
    run: async () => {
      const budget = createBudget({ kind: 'token-bucket', percent: 20 });
      await runScripted({
        ends: [503],
        options: { budget, retry: { codes: [503], backoffMs: 500, jitter: 'none' } },
        abortAtMs: 50,
      });
      return `balance ${budget.balance(0)}`;
    },
  },
];

const again = { codes: [500, 502, 503, 504], ...AT_ONCE };
const counts = async (retries: number, ends: readonly (number | string)[], maxRetries = 2): Promise<string> => {
  const told = await runScripted({
    ends,
    options: { budget: reserve(retries), retry: { ...again, maxRetries, on: ['reset'] } },
  });
  return told
    .replace(/^sent at ([^;]*) ms;/, (_, at: string) => `${at.split(', ').length} sent;`)
    .replace(/ at [\d.]+ ms$/, '');
};

const SMITHY: readonly PeerCase[] = [
  {
    name: 'succeeds at the third attempt (500, 500, 200; quota for 100)',
    theirs: '3 attempts, success',
    ours: '3 sent; 200 success',
    run: () => counts(100, [500, 500, 200]),
  },
  {
    name: 'fails when the attempts are used up (502, 502, 502)',
    theirs: '3 attempts, the last error',
    ours: '3 sent; 502 attempts-exhausted',
    run: () => counts(100, [502]),
  },
  {
    name: 'the quota ends after a single retry (500, 502)',
    theirs: '2 attempts, the last error',
    ours: '2 sent; 502 budget-exhausted',
    run: () => counts(1, [500, 502, 200]),
  },
  {
    name: 'no quota at all (500)',
    theirs: '1 attempt, its error',
    ours: '1 sent; 500 budget-exhausted',
    run: () => counts(0, [500, 200]),
  },
  {
    name: 'the quota ends within the attempts (500, 502, 503; quota for 2)',
    theirs: '3 attempts, the last error',
    ours: '3 sent; 503 budget-exhausted',
    run: () => counts(2, [500, 502, 503], 4),
  },
  {
    name: 'a success gives quota back: 500, 200, then 500, 200',
    theirs: 'the cost of the last retry comes back: for ever',
    ours: '2 sent; 200 success, then 1 sent; 500 budget-exhausted',
    why: 'five requests pay for one retry: 20 %, and not 100 %',
    async run() {
      const options = { budget: reserve(1), retry: { ...again } };
      const shorten = (told: string): string =>
        told
          .replace(/^sent at ([^;]*) ms;/, (_, at: string) => `${at.split(', ').length} sent;`)
          .replace(/ at [\d.]+ ms$/, '');
      const one = shorten(await runScripted({ ends: [500, 200], options }));
      return `${one}, then ${shorten(await runScripted({ ends: [500, 200], options }))}`;
    },
  },
  {
    name: 'a reset connection (transient) counts as a 500 does',
    theirs: '2 attempts: it costs twice as much',
    ours: '2 sent; 200 success',
    run: () => counts(1, ['ECONNRESET', 200]),
  },
  {
    name: 'AWS for Rust #1234: 1000 calls, all fail, 3 attempts, 10 %',
    theirs: '3000 sends: the bucket was lost',
    ours: '1100 sends',
    async run() {
      const budget = createBudget({ kind: 'ratio', percent: 10, intervalMs: 3_600_000, minRetryRate: none });
      let sends = 0;
      for (let i = 0; i < 1000; i += 1) {
        const told = await runScripted({ ends: [500], options: { budget, retry: { ...again, maxRetries: 2 } } });
        sends += told.split(';')[0]!.split(', ').length;
      }
      return `${sends} sends`;
    },
  },
];

export const TOWER_BUDGET: PeerSuite = { title: 'Budgets: tower and reqwest', cases: TOWER };
export const FINAGLE_BUDGET: PeerSuite = { title: 'Budgets: Finagle', cases: FINAGLE };
export const SMITHY_QUOTA: PeerSuite = { title: 'Budgets: the quota of the AWS SDK', cases: SMITHY };
