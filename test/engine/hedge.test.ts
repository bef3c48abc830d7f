import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRetryBudget } from '../../src/core/retry-budget.ts';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import type { Selection } from '../../src/engine/run-host.ts';
import type { FixtureOptions, RunFixture } from './run-fixture.ts';
import { startRun } from './run-fixture.ts';

const HEDGE = { delayMs: 100, max: 1 };

/** A GET to one of two endpoints, with a budget that grants everything. */
function slow(options: FixtureOptions = {}): RunFixture {
  return startRun({ hedge: HEDGE, budget: createRetryBudget({ kind: 'none' }), ...options });
}

function wasAborted(fixture: RunFixture): boolean[] {
  return fixture.sends.map((send) => send.aborted);
}

function isIdle(fixture: RunFixture): boolean {
  const { upstream, clock } = fixture;
  return (
    upstream.permits.inflight === 0 && upstream.endpoints.every((one) => one.inflight === 0) && clock.pendingCount === 0
  );
}

describe('a copy', () => {
  test('is sent to the other endpoint after the delay, and not before', () => {
    const fixture = slow();
    fixture.clock.advance(99);
    assert.equal(fixture.sends.length, 1);
    fixture.clock.advance(1);
    assert.deepEqual(
      fixture.sends.map((send) => send.endpoint),
      ['a:1', 'b:1'],
    );
    const [first, copy] = fixture.run.attempts;
    assert.deepEqual([first?.hedge, copy?.hedge, copy?.waitMs], [undefined, true, 100]);
    assert.deepEqual([fixture.run.retryCount, fixture.run.waitedMs], [0, 0]);
  });

  test('is not sent once there is a response head', () => {
    const fixture = slow();
    fixture.last.respond(200, [], 'a', false);
    fixture.clock.advance(1000);
    fixture.sends[0]?.handler.onComplete([]);
    assert.equal(fixture.sends.length, 1);
    assert.ok(isIdle(fixture));
  });

  test('is one, or as many as the policy says', () => {
    const one = slow({ endpoints: ['a:1', 'b:1', 'c:1', 'd:1'] });
    one.clock.advance(10_000);
    assert.equal(one.sends.length, 2);
    const two = slow({ endpoints: ['a:1', 'b:1', 'c:1', 'd:1'], hedge: { delayMs: 100, max: 2 } });
    two.clock.advance(10_000);
    assert.equal(two.sends.length, 3);
  });

  test('says in its request that it is a second attempt', () => {
    const fixture = slow();
    fixture.clock.advance(100);
    assert.deepEqual(fixture.last.request.fields, ['Host', 'a', 'Request-Attempt', 'n=2, lineage=1']);
  });

  test('reads the body on its own', () => {
    const body = bytesBody('x');
    const fixture = slow({ method: 'PUT', body });
    fixture.clock.advance(100);
    assert.equal(fixture.sends[0]?.request.body, body);
    assert.notEqual(fixture.last.request.body, body);
    assert.equal(fixture.last.request.body?.contentLength, 1);
  });

  const refused: readonly (readonly [string, FixtureOptions, string])[] = [
    ['a POST without a key', { method: 'POST' }, 'not-idempotent'],
    ['a request without another endpoint', { endpoints: ['a:1'] }, 'no-endpoint'],
    ['a retry of the caller', { lineage: 1 }, 'retry-of-retry'],
    ['a request without a permit for it', { upstream: { maxInflightRequests: 1 } }, 'circuit-open'],
    ['a request that the budget has no share for', { budget: createRetryBudget() }, 'budget-exhausted'],
    [
      'a body that is not here yet',
      { method: 'PUT', body: Object.assign(bytesBody('x'), { copy: () => undefined }) },
      'body-not-replayable',
    ],
  ];
  for (const [name, options, reason] of refused) {
    test(`is not made of ${name}, and the run says so: ${reason}`, () => {
      const fixture = slow(options);
      fixture.clock.advance(1000);
      assert.deepEqual([fixture.sends.length, fixture.run.hedgeRefused], [1, reason]);
      fixture.last.respond(200);
      assert.equal(fixture.run.reason, 'success');
      assert.ok(isIdle(fixture));
    });
  }

  test('is made of a keyed POST, and of a retry where that is allowed', () => {
    for (const options of [
      { method: 'POST', keyed: true },
      { lineage: 1, policy: { retryOfRetry: true } },
    ]) {
      const fixture = slow(options);
      fixture.clock.advance(100);
      assert.equal(fixture.sends.length, 2);
    }
  });
});

describe('of two copies', () => {
  for (const winner of [0, 1]) {
    test(`the one answered first wins (${winner === 0 ? 'the first' : 'the second'}), and the other is given up`, () => {
      const fixture = slow();
      fixture.clock.advance(100);
      fixture.sends[winner]?.respond(200, [], 'won');
      assert.deepEqual(fixture.told, ['response:200', 'data:won', 'complete']);
      assert.deepEqual(wasAborted(fixture), winner === 0 ? [false, true] : [true, false]);
      assert.equal(fixture.run.attempts[1 - winner]?.superseded, true);
      assert.equal(fixture.run.attempts[winner]?.superseded, undefined);
      assert.ok(isIdle(fixture));
    });
  }

  test('the winner streams on after the other was given up', () => {
    const fixture = slow();
    fixture.clock.advance(100);
    const [first, second] = fixture.sends;
    second?.respond(200, [], 'half', false);
    assert.equal(first?.aborted, true);
    fixture.run.resume();
    assert.equal(second?.resumeCount, 1);
    second?.handler.onData(Buffer.from('whole'));
    second?.handler.onComplete([]);
    assert.deepEqual(fixture.told, ['response:200', 'data:half', 'data:whole', 'complete']);
  });

  for (const outcome of ['refuse', 'reset'] as const) {
    test(`a failure of one (${outcome}) is let pass while the other runs`, () => {
      const fixture = slow({ policy: { maxRetries: 0 } });
      fixture.clock.advance(100);
      fixture.sends[0]?.[outcome]();
      assert.deepEqual(fixture.told, []);
      fixture.sends[1]?.respond(200);
      assert.deepEqual(fixture.told, ['response:200', 'complete']);
      assert.equal(fixture.run.attempts[0]?.failure !== undefined, true);
      assert.ok(isIdle(fixture));
    });
  }

  test('a response that would be retried is let pass while the other runs, and is the answer when that fails', () => {
    const fixture = slow({ policy: { codes: [503], maxRetries: 0 } });
    fixture.clock.advance(100);
    fixture.sends[1]?.respond(503, [], 'busy');
    assert.deepEqual(fixture.told, []);
    fixture.sends[0]?.reset();
    assert.deepEqual(fixture.told, ['response:503', 'data:busy', 'complete']);
    assert.equal(fixture.run.attempts[1]?.class, 'answered');
  });

  test('a status that nobody would retry is the answer at once', () => {
    const fixture = slow({ policy: { codes: [503] } });
    fixture.clock.advance(100);
    fixture.sends[1]?.respond(404);
    assert.deepEqual(fixture.told, ['response:404', 'complete']);
    assert.deepEqual(wasAborted(fixture), [true, false]);
  });

  test('when both have failed the retries begin, and there are as many as without copies', () => {
    const fixture = slow({
      policy: { codes: [503], maxRetries: 2, backoffMs: 10 },
      endpoints: ['a:1', 'b:1', 'c:1', 'd:1'],
    });
    fixture.clock.advance(100);
    fixture.sends[0]?.respond(503);
    fixture.sends[1]?.respond(503);
    assert.deepEqual(fixture.told, ['retry:10']);
    fixture.clock.advance(10);
    assert.equal(fixture.sends.length, 3);
    fixture.last.respond(503);
    fixture.clock.advance(10);
    fixture.last.respond(503, [], 'last');
    assert.equal(fixture.sends.length, 4);
    assert.deepEqual(fixture.told.slice(-3), ['response:503', 'data:last', 'complete']);
    assert.deepEqual([fixture.run.reason, fixture.run.retryCount], ['attempts-exhausted', 2]);
    assert.ok(isIdle(fixture));
  });

  test('a retry that takes long gets a copy too, if none was sent before', () => {
    const fixture = slow({ policy: { codes: [503], maxRetries: 1, backoffMs: 0 }, endpoints: ['a:1', 'b:1', 'c:1'] });
    fixture.last.respond(503);
    fixture.clock.advance(100);
    assert.deepEqual(
      fixture.run.attempts.map((attempt) => attempt.hedge === true),
      [false, false, true],
    );
  });

  test('a client that leaves ends both', () => {
    const fixture = slow();
    fixture.clock.advance(100);
    fixture.run.cancel();
    assert.deepEqual(wasAborted(fixture), [true, true]);
    assert.deepEqual([fixture.told, fixture.run.reason], [[], 'downstream-gone']);
    assert.ok(isIdle(fixture));
  });

  test('the deadline ends both', () => {
    const fixture = slow({ deadlineMs: 300 });
    fixture.clock.advance(300);
    assert.deepEqual(wasAborted(fixture), [true, true]);
    assert.deepEqual(fixture.told, ['failed:deadline_exceeded:deadline']);
    assert.deepEqual(
      fixture.run.attempts.map((attempt) => attempt.failure),
      ['deadline_exceeded', 'deadline_exceeded'],
    );
    assert.ok(isIdle(fixture));
  });

  test('user code that throws ends both', () => {
    let built = 0;
    const fixture = slow({
      host: {
        buildRequest: () => {
          built += 1;
          if (built === 2) throw new Error('no');
          return { method: 'GET', target: '/', fields: ['Host', 'a'], body: undefined, expectContinueMs: 0 };
        },
      },
    });
    fixture.clock.advance(100);
    assert.deepEqual([fixture.told, wasAborted(fixture)], [['error'], [true]]);
    assert.ok(isIdle(fixture));
  });
});

test('a copy that user code was still choosing an upstream for is given back when the answer came meanwhile', async () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 100, minRetryRate: { count: 0, intervalMs: 1000 } });
  const first = startRun({ budget, policy: { maxRetries: 0 } });
  first.last.respond(200);
  const { promise, resolve } = Promise.withResolvers<Selection>();
  let asked = 0;
  const fixture = slow({
    shared: first,
    host: {
      select: () => {
        asked += 1;
        return asked === 1 ? { upstream: first.upstream } : promise;
      },
    },
  });
  fixture.clock.advance(100);
  assert.deepEqual([asked, budget.balance(fixture.clock.nowMs())], [2, 1]);
  fixture.last.respond(200);
  resolve({ upstream: first.upstream });
  await promise;
  await Promise.resolve();
  assert.deepEqual([fixture.sends.length, fixture.run.attempts.length], [2, 1]);
  assert.equal(budget.balance(fixture.clock.nowMs()), 2);
  assert.ok(isIdle(fixture));
});

test('a copy is taken from the budget and stays taken', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 100, minRetryRate: { count: 0, intervalMs: 1000 } });
  const fixture = slow({ budget });
  fixture.clock.advance(100);
  assert.equal(fixture.sends.length, 2);
  fixture.last.respond(200);
  assert.equal(budget.balance(fixture.clock.nowMs()), 0);
});

test('a response put aside gets the rest of its time to end when the copy dies, and is delivered', () => {
  const fixture = slow({ endpoints: ['a:1', 'b:1'], policy: { codes: [503], maxRetries: 0 } });
  const [first] = fixture.sends;
  fixture.clock.advance(100);
  assert.equal(fixture.sends.length, 2);
  first?.respond(503, [], 'bu', false);
  fixture.last.reset();
  assert.deepEqual(fixture.told, []);
  first?.handler.onData(Buffer.from('sy'));
  first?.handler.onComplete([]);
  assert.deepEqual(fixture.told, ['response:503', 'data:bu', 'data:sy', 'complete']);
});
