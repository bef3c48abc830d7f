import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRetryBudget } from '../../src/core/retry-budget.ts';
import { startRun } from './run-fixture.ts';

const NO_BUDGET = { kind: 'ratio', percent: 20, minRetryRate: { count: 0, intervalMs: 1000 } } as const;

describe('one request', () => {
  test('a success is delivered with one send and reason success', () => {
    const fixture = startRun();
    fixture.last.respond(200, [], 'hi');
    assert.deepEqual(fixture.told, ['response:200', 'data:hi', 'complete']);
    assert.equal(fixture.run.reason, 'success');
    assert.equal(fixture.sends.length, 1);
  });

  test('a refused connection is tried at once on the other endpoint', () => {
    const fixture = startRun({ method: 'POST' });
    fixture.last.refuse();
    assert.deepEqual(
      fixture.sends.map((send) => send.endpoint),
      ['a:1', 'b:1'],
    );
    assert.equal(fixture.clock.nowMs(), 0);
    fixture.last.respond(201);
    assert.equal(fixture.run.attempts[0]?.class, 'unsent');
    assert.equal(fixture.run.attempts[1]?.status, 201);
  });

  test('a listed status waits for the backoff before it is sent again', () => {
    const fixture = startRun({ policy: { codes: [503], maxRetries: 2, backoffMs: 40 } });
    fixture.last.respond(503);
    fixture.clock.advance(39);
    assert.equal(fixture.sends.length, 1);
    fixture.clock.advance(1);
    assert.equal(fixture.sends.length, 2);
    fixture.last.respond(200);
    assert.equal(fixture.run.waitedMs, 40);
  });

  test('the free re-send after a stale connection asks for a fresh one', () => {
    const fixture = startRun({ endpoints: ['a:1'] });
    fixture.last.reused = true;
    fixture.last.reset();
    assert.equal(fixture.sends.length, 2);
    assert.equal(fixture.last.options.freshConnection, true);
    assert.equal(fixture.run.attempts[1]?.free, true);
  });

  test('a reset POST is not sent again and says why', () => {
    const fixture = startRun({ method: 'POST', policy: { on: ['unsent', 'stale', 'reset'] } });
    fixture.last.reset();
    assert.deepEqual(fixture.told, ['failed:connection_terminated:not-idempotent']);
    assert.equal(fixture.sends.length, 1);
  });

  test('a response that breaks after its head is reported as truncated and never sent again', () => {
    const fixture = startRun({ policy: { on: ['unsent', 'stale', 'reset'] } });
    fixture.last.respond(200, [], 'half', false);
    fixture.last.fail('http_response_incomplete', 'body', { bytesSent: 10, bytesReceived: 10 });
    assert.deepEqual(fixture.told, ['response:200', 'data:half', 'truncated:http_response_incomplete']);
    assert.equal(fixture.sends.length, 1);
  });

  test('a 1xx is passed on and does not commit', () => {
    const fixture = startRun({ policy: { on: ['unsent', 'stale', 'reset'], backoffMs: 0 } });
    fixture.last.handler.onInformational({
      versionMinor: 1,
      status: 103,
      reason: '',
      fields: [],
      bodyKind: 'none',
      contentLength: -1,
      keepAlive: true,
      keepAliveTimeoutMs: -1,
    });
    fixture.last.reset();
    assert.equal(fixture.sends.length, 2);
    assert.deepEqual(fixture.told, ['informational:103', 'retry:0']);
  });
});

describe('the last real response', () => {
  test('is delivered when a later attempt gets no response', () => {
    const fixture = startRun({ policy: { codes: [503], maxRetries: 1, backoffMs: 0 } });
    fixture.last.respond(503, ['X-From', 'a'], 'busy');
    fixture.last.refuse();
    assert.deepEqual(fixture.told, ['retry:0', 'response:503', 'data:busy', 'complete']);
    assert.equal(fixture.run.reason, 'attempts-exhausted');
  });

  test('is read to its end before the retry is sent', () => {
    const fixture = startRun({ policy: { codes: [503], backoffMs: 0 } });
    fixture.last.respond(503, [], 'bu', false);
    assert.equal(fixture.sends.length, 1);
    fixture.last.handler.onComplete([]);
    assert.equal(fixture.sends.length, 2);
  });

  test('is given up after 100 ms, with its connection, when it does not end', () => {
    const fixture = startRun({ policy: { codes: [503], backoffMs: 0 } });
    const [first] = fixture.sends;
    fixture.last.respond(503, [], 'drip', false);
    fixture.clock.advance(100);
    assert.equal(first?.aborted, true);
    assert.equal(fixture.sends.length, 2);
    fixture.last.refuse();
    assert.deepEqual(fixture.told.slice(1), ['failed:connection_refused:attempts-exhausted']);
  });

  test('is not kept beyond 64 KiB', () => {
    const fixture = startRun({ policy: { codes: [503], backoffMs: 0 } });
    const [first] = fixture.sends;
    fixture.last.respond(503, [], 'x'.repeat(65_537), false);
    assert.equal(first?.aborted, true);
    assert.equal(fixture.sends.length, 2);
  });
});

describe('budget and permits', () => {
  test('an exhausted budget delivers the original response', () => {
    const budget = createRetryBudget(NO_BUDGET);
    const fixture = startRun({ budget, policy: { codes: [503] } });
    fixture.last.respond(503, [], 'busy');
    assert.deepEqual(fixture.told, ['response:503', 'data:busy', 'complete']);
    assert.equal(fixture.run.reason, 'budget-exhausted');
  });

  test('an exhausted budget answers 503 where the upstream says so', () => {
    const budget = createRetryBudget(NO_BUDGET);
    const fixture = startRun({ budget, policy: { codes: [500] }, upstream: { onBudgetExhausted: '503' } });
    fixture.last.respond(500, [], 'broken', false);
    assert.deepEqual(fixture.told, ['refused:budget-exhausted']);
    assert.equal(fixture.sends[0]?.aborted, true);
  });

  test('a retry gives its permit back before it asks for one', () => {
    const fixture = startRun({
      policy: { codes: [503], maxRetries: 3, backoffMs: 0 },
      upstream: { maxInflightRequests: 1 },
    });
    for (let i = 0; i < 3; i += 1) {
      assert.equal(fixture.upstream.permits.inflight, 1);
      fixture.last.respond(503);
    }
    fixture.last.respond(200);
    assert.equal(fixture.sends.length, 4);
    assert.equal(fixture.upstream.permits.inflight, 0);
  });

  test('a first attempt without a permit is not sent', () => {
    const busy = startRun({ upstream: { maxInflightRequests: 1 } });
    const fixture = startRun({ host: { select: () => ({ upstream: busy.upstream }) } });
    assert.equal(fixture.sends.length, 0);
    assert.deepEqual(fixture.told, ['failed:circuit_open:circuit-open']);
  });

  test('a retry that finds no permit after its wait is refused and refunded', () => {
    const budget = createRetryBudget({ kind: 'ratio', percent: 100 });
    const fixture = startRun({
      budget,
      policy: { codes: [503], backoffMs: 50 },
      upstream: { maxInflightRequests: 1 },
    });
    fixture.last.respond(503);
    const withdrawn = budget.balance(fixture.clock.nowMs());
    assert.equal(fixture.upstream.permits.tryAcquire(), true);
    fixture.clock.advance(50);
    assert.deepEqual(fixture.told, ['retry:50', 'refused:circuit-open']);
    assert.equal(budget.balance(fixture.clock.nowMs()), withdrawn + 1);
    assert.equal(fixture.sends.length, 1);
  });

  test('load and permits are back at zero after every kind of end', () => {
    for (const end of ['respond', 'refuse', 'reset', 'cancel'] as const) {
      const fixture = startRun({ policy: { maxRetries: 0 } });
      if (end === 'respond') fixture.last.respond(200);
      else if (end === 'cancel') fixture.run.cancel();
      else fixture.last[end]();
      assert.equal(fixture.upstream.permits.inflight, 0, end);
      assert.deepEqual(
        fixture.upstream.endpoints.map((endpoint) => endpoint.inflight),
        [0, 0],
        end,
      );
      assert.equal(fixture.clock.pendingCount, 0, end);
    }
  });
});

describe('the client leaves', () => {
  test('while an attempt runs: it is aborted and none follows', () => {
    const fixture = startRun();
    fixture.run.cancel();
    assert.equal(fixture.last.aborted, true);
    assert.equal(fixture.run.reason, 'downstream-gone');
    assert.deepEqual(fixture.told, []);
  });

  test('during the wait: nothing more is sent and the budget gets its retry back', () => {
    const budget = createRetryBudget({ kind: 'ratio', percent: 100 });
    const fixture = startRun({ budget, policy: { codes: [503], backoffMs: 50 } });
    const before = budget.balance(fixture.clock.nowMs());
    fixture.last.respond(503);
    fixture.run.cancel();
    fixture.clock.advance(1000);
    assert.equal(fixture.sends.length, 1);
    assert.equal(budget.balance(fixture.clock.nowMs()), before);
    assert.equal(fixture.clock.pendingCount, 0);
  });
});

describe('the deadline', () => {
  test('ends the attempt and the request at once', () => {
    const fixture = startRun({ deadlineMs: 200, policy: { maxRetries: 5, on: ['timeout', 'unsent'] } });
    fixture.clock.advance(200);
    assert.equal(fixture.last.aborted, true);
    assert.deepEqual(fixture.told, ['failed:deadline_exceeded:deadline']);
    assert.equal(fixture.sends.length, 1);
  });

  test('does not cut a response whose head was delivered', () => {
    const fixture = startRun({ deadlineMs: 200 });
    fixture.last.respond(200, [], 'a', false);
    fixture.clock.advance(500);
    fixture.last.handler.onComplete([]);
    assert.deepEqual(fixture.told, ['response:200', 'data:a', 'complete']);
  });

  test('that has passed already sends nothing', () => {
    const fixture = startRun({ deadlineMs: 0 });
    assert.equal(fixture.sends.length, 0);
    assert.deepEqual(fixture.told, ['failed:deadline_exceeded:deadline']);
  });
});

test('when every endpoint was tried, the one tried longest ago is next, round after round', () => {
  const fixture = startRun({
    endpoints: ['a:1', 'b:1', 'c:1'],
    policy: { codes: [503], maxRetries: 8, backoffMs: 0 },
    upstream: { budget: createRetryBudget({ kind: 'none' }) },
  });
  for (let i = 0; i < 9; i += 1) fixture.last.respond(503);
  const order = fixture.sends.map((send) => send.endpoint);
  assert.equal(order.length, 9);
  assert.deepEqual(order.slice(3, 6), order.slice(0, 3));
  assert.deepEqual(order.slice(6, 9), order.slice(0, 3));
});
