import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptsOf } from '../../src/client/attempts.ts';
import { createCallTransport } from '../../src/client/call/call-transport.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { createPolicy, createPolicyAt } from '../../src/client/execute.ts';
import type { PolicyOptions } from '../../src/client/execute.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';

failOnLeaks();

const RETRY = { maxRetries: 2, backoffMs: 0, maxBackoffMs: 0 } as const;

/** Fails as often as said, then gives how often it was called. */
function failing(
  times: number,
  error: unknown = new Error('no'),
): { readonly fn: () => Promise<number>; count: number } {
  const counted = {
    count: 0,
    fn: async (): Promise<number> => {
      counted.count += 1;
      if (counted.count <= times) throw error;
      return counted.count;
    },
  };
  return counted;
}

test('a function that is idempotent is done again, and its value comes back', async () => {
  const work = failing(2);
  assert.equal(await createPolicy({ retry: RETRY }).execute(work.fn, { idempotent: true }), 3);
});

test('any other function is done once, and its own error comes back with the reason', async () => {
  const error = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
  const work = failing(1, error);
  await assert.rejects(createPolicy({ retry: RETRY }).execute(work.fn), (thrown) => thrown === error);
  assert.equal(work.count, 1);
  assert.equal(attemptsOf(error)?.reason, 'not-idempotent');
});

test('what certainly was not done is done again, whatever it is', async () => {
  const work = failing(1);
  const policy = createPolicy({ retry: RETRY, classifyError: () => 'unsent' });
  assert.equal(await policy.execute(work.fn), 2);
});

test('a final error is not repeated and opens no circuit', async () => {
  const work = failing(10);
  const policy = createPolicy({
    retry: RETRY,
    circuitBreaker: { consecutiveFailures: 1 },
    classifyError: () => 'final',
  });
  for (let i = 0; i < 3; i++) await assert.rejects(policy.execute(work.fn, { idempotent: true }), /no/);
  assert.equal(work.count, 3);
});

test('a thrown primitive comes back as it is', async () => {
  const policy = createPolicy({ retry: RETRY });
  await assert.rejects(
    policy.execute(() => Promise.reject('no')),
    (thrown) => thrown === 'no',
  );
});

test('a circuit opens for its operation alone', async () => {
  const work = failing(2);
  const policy = createPolicy({ retry: false, circuitBreaker: { consecutiveFailures: 2 } });
  for (let i = 0; i < 2; i++) await assert.rejects(policy.execute(work.fn, { operation: 'orders' }));
  const error = await policy.execute(work.fn, { operation: 'orders' }).catch((thrown: unknown) => thrown);
  assert.ok(isRequestFailedError(error));
  assert.deepEqual([error.reason, work.count], ['circuit-open', 2]);
  assert.equal(await policy.execute(work.fn, { operation: 'users' }), 3);
});

test('a budget bounds what all calls repeat together', async () => {
  const work = failing(100);
  const policy = createPolicy({ retry: RETRY, budget: { kind: 'ratio', percent: 0 } });
  await assert.rejects(policy.execute(work.fn, { idempotent: true }));
  assert.equal(work.count, 1);
});

const at = (options: PolicyOptions) => {
  const clock = createManualClock();
  return {
    clock,
    policy: createPolicyAt(options, { clock, random: () => 0.5, transport: createCallTransport(clock) }),
  };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the wait between two attempts is the policy backoff', async () => {
  const work = failing(1);
  const { clock, policy } = at({ retry: { maxRetries: 1, backoffMs: 100, maxBackoffMs: 100, jitter: 'none' } });
  const done = policy.execute(work.fn, { idempotent: true });
  await turn();
  clock.advance(99);
  await turn();
  assert.equal(work.count, 1);
  clock.advance(1);
  assert.equal(await done, 2);
});

test('an attempt that takes too long is told so, and its late answer is dropped', async () => {
  const { clock, policy } = at({ retry: RETRY, timeout: { attemptMs: 100 } });
  const signals: AbortSignal[] = [];
  let late: ((value: string) => void) | undefined;
  const done = policy.execute(
    ({ attempt, signal }) => {
      signals.push(signal);
      return attempt === 1 ? new Promise<string>((resolve) => (late = resolve)) : 'in time';
    },
    { idempotent: true },
  );
  await turn();
  clock.advance(100);
  await turn();
  late?.('late');
  assert.equal(await done, 'in time');
  assert.deepEqual([signals[0]!.aborted, (signals[0]!.reason as Error).name], [true, 'TimeoutError']);
});

test('the deadline ends the wait', async () => {
  const work = failing(9);
  const { clock, policy } = at({ retry: { ...RETRY, maxRetries: 5 }, timeout: { requestMs: 50 } });
  const done = policy.execute(() => new Promise<never>(() => undefined), { idempotent: true });
  clock.advance(50);
  const error = await done.catch((thrown: unknown) => thrown);
  assert.ok(isRequestFailedError(error));
  assert.deepEqual([error.reason, work.count], ['deadline', 0]);
});

test('an abort reaches the function, and ends the call at once with its reason', async () => {
  const aborter = new AbortController();
  const reason = new Error('changed my mind');
  let seen: AbortSignal | undefined;
  const done = createPolicy().execute(
    ({ signal }) => {
      seen = signal;
      return new Promise<never>(() => undefined);
    },
    { signal: aborter.signal, idempotent: true },
  );
  aborter.abort(reason);
  await assert.rejects(done, (thrown) => thrown === reason);
  assert.equal(seen?.aborted, true);
});

test('an option that does nothing here is refused', () => {
  assert.throws(() => createPolicy({ retry: { codes: [503] } as object }), /there is no option "codes"/);
  assert.throws(() => createPolicy({ tiemout: 1 } as object), /there is no option "tiemout"/);
});

test('an onRetry that throws ends the call with its error', async () => {
  const work = failing(1);
  const onRetry = (): never => {
    throw new Error('mine');
  };
  const policy = createPolicy({ retry: RETRY, timeout: 0, onRetry });
  await assert.rejects(policy.execute(work.fn, { idempotent: true }), /mine/);
  assert.equal(work.count, 1);
});

test('a classifier that says something else ends the call, and the error names the words there are', async () => {
  const work = failing(1);
  const policy = createPolicy({ retry: RETRY, timeout: 0, classifyError: () => 'later' as 'final' });
  await assert.rejects(policy.execute(work.fn, { idempotent: true }), /classifyError gave "later"; give unsent/);
  assert.equal(work.count, 1);
});

test('what is no function is refused, and not tried again', async () => {
  let count = 0;
  const policy = createPolicy({ retry: RETRY, onRetry: () => (count += 1) });
  await assert.rejects(policy.execute(5 as never, { idempotent: true }), /execute: give a function/);
  assert.equal(count, 0);
});
