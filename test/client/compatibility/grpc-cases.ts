import { createBudget } from '../../../src/client/options.ts';
import type { PeerCase, PeerSuite } from './peer-case.ts';
import type { ScriptedEnd } from './scripted-fetch.ts';
import { runScripted } from './scripted-fetch.ts';

const UNAVAILABLE = '14';
const INVALID_ARGUMENT = '3';
const status = (code: string, pushback?: string): ScriptedEnd => [
  200,
  { 'grpc-status': code, ...(pushback === undefined ? {} : { 'grpc-retry-pushback-ms': pushback }) },
];

const retry = { grpcStatuses: ['unavailable'], curve: 'fixed', backoffMs: 100, jitter: 'none', maxRetries: 2 } as const;
const call = (ends: readonly ScriptedEnd[]) => (): Promise<string> =>
  runScripted({ ends, options: { retry }, init: { method: 'POST', headers: { 'Idempotency-Key': 'k' } } });

const PUSHBACK: readonly PeerCase[] = [
  {
    name: 'UNAVAILABLE, then OK',
    theirs: 'retried after the backoff',
    ours: 'sent at 0, 100 ms; 200 success at 100 ms',
    run: call([status(UNAVAILABLE), status('0')]),
  },
  {
    name: 'a status that the policy does not name',
    theirs: 'not retried',
    ours: 'sent at 0 ms; 200 success at 0 ms',
    run: call([status(INVALID_ARGUMENT)]),
  },
  {
    name: 'pushback 1500',
    theirs: 'retried in exactly 1500 ms',
    ours: 'sent at 0, 1500 ms; 200 success at 1500 ms',
    run: call([status(UNAVAILABLE, '1500'), status('0')]),
  },
  {
    name: 'pushback 0',
    theirs: 'retried at once',
    ours: 'sent at 0, 100 ms; 200 success at 100 ms',
    why: 'a wait is never shorter than our own backoff',
    run: call([status(UNAVAILABLE, '0'), status('0')]),
  },
  {
    name: 'pushback -1',
    theirs: 'never retried',
    ours: 'sent at 0 ms; 200 advised-never at 0 ms',
    run: call([status(UNAVAILABLE, '-1')]),
  },
  {
    name: 'pushback abc',
    theirs: 'never retried, says A6; grpc-js retries at once',
    ours: 'sent at 0 ms; 200 advised-never at 0 ms',
    run: call([status(UNAVAILABLE, 'abc')]),
  },
  {
    name: 'pushback in the second answer only',
    theirs: 'the backoff, then the pushback',
    ours: 'sent at 0, 100, 900 ms; 200 success at 900 ms',
    run: call([status(UNAVAILABLE), status(UNAVAILABLE, '800'), status('0')]),
  },
];

const THROTTLE: readonly PeerCase[] = [
  {
    name: 'maxTokens 10: failures before retries stop',
    theirs: 'at 5 tokens: after 5',
    ours: '5 failures',
    run() {
      const budget = createBudget({ kind: 'throttle', maxTokens: 10, tokenRatio: 0.1 });
      let failures = 0;
      while (failures < 100 && budget.withdraw(0)) {
        budget.record(false, 0);
        failures += 1;
      }
      return `${failures} failures`;
    },
  },
  {
    name: '#2927: one failure of 10 tokens',
    theirs: 'switched retries off, until it was mended',
    ours: 'sent at 0, 100 ms; 200 success at 100 ms',
    run: () =>
      runScripted({
        ends: [status(UNAVAILABLE), status('0')],
        options: { retry, budget: { kind: 'throttle', maxTokens: 10, tokenRatio: 0.1 } },
      }),
  },
  {
    name: 'successes until a retry is granted again, ratio 0.1, at half of 10',
    theirs: '1',
    ours: '1',
    run() {
      const budget = createBudget({ kind: 'throttle', maxTokens: 10, tokenRatio: 0.1 });
      for (let i = 0; i < 5; i += 1) budget.record(false, 0);
      let successes = 0;
      while (successes < 100 && !budget.withdraw(0)) {
        budget.record(true, 0);
        successes += 1;
      }
      return String(successes);
    },
  },
  {
    name: 'tokenRatio 0.6669: successes that take an empty bucket of 4 above its half',
    theirs: 'three digits count: 4 × 0.666',
    ours: '4',
    run() {
      const budget = createBudget({ kind: 'throttle', maxTokens: 4, tokenRatio: 0.6669 });
      for (let i = 0; i < 4; i += 1) budget.record(false, 0);
      let successes = 0;
      while (successes < 100 && !budget.withdraw(0)) {
        budget.record(true, 0);
        successes += 1;
      }
      return String(successes);
    },
  },
  ...(
    [
      ['maxTokens', 0],
      ['maxTokens', 1001],
      ['tokenRatio', 0],
      ['tokenRatio', -1],
    ] as const
  ).map(([field, value]) => ({
    name: `configuration: ${field} ${value}`,
    theirs: 'refused',
    ours: `refused: ${field}`,
    run() {
      try {
        createBudget({ kind: 'throttle', [field]: value });
        return 'taken';
      } catch (error) {
        return `refused: ${String(/maxTokens|tokenRatio/.exec((error as Error).message)?.[0])}`;
      }
    },
  })),
];

export const GRPC_PUSHBACK: PeerSuite = { title: 'gRPC A6: statuses and pushback', cases: PUSHBACK };
export const GRPC_THROTTLE: PeerSuite = { title: 'gRPC A6: throttling', cases: THROTTLE };
