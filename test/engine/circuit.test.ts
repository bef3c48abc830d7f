import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRetryBudget } from '../../src/core/retry-budget.ts';
import { createCircuits } from '../../src/engine/circuits.ts';
import type { UpstreamChange } from '../../src/engine/upstream.ts';
import { createUpstream } from '../../src/engine/upstream.ts';
import type { FixtureOptions, RunFixture } from './run-fixture.ts';
import { startRun } from './run-fixture.ts';

const UNLIMITED = createRetryBudget({ kind: 'none' });

/** Runs over one upstream whose circuits open at two failures in a row, for a second. */
function bench(options: FixtureOptions = {}): { start(more?: FixtureOptions): RunFixture; changes: UpstreamChange[] } {
  const changes: UpstreamChange[] = [];
  let first: RunFixture | undefined;
  return {
    changes,
    start(more = {}) {
      const fixture = startRun({
        policy: { maxRetries: 0 },
        ...options,
        budget: UNLIMITED,
        ...more,
        ...(first === undefined ? {} : { shared: first }),
        upstream: {
          circuitBreaker: { consecutiveFailures: 2, openForMs: 1000 },
          onChange: (change) => changes.push(change),
          ...options.upstream,
        },
      });
      first ??= fixture;
      return fixture;
    },
  };
}

function stateOf(fixture: RunFixture, operation = ''): string | undefined {
  return fixture.upstream.circuits?.of(operation).state(fixture.clock.nowMs());
}

describe('a circuit', () => {
  test('opens at failures, answers the next request at once, and says when to come back', () => {
    const { start, changes } = bench();
    start().last.reset();
    start().last.reset();
    const refused = start();
    assert.equal(refused.sends.length, 2);
    assert.deepEqual(refused.told, ['failed:circuit_open:circuit-open']);
    assert.equal(refused.run.retryAfterMs, 1000);
    assert.deepEqual([refused.upstream.permits.inflight, refused.clock.pendingCount], [0, 0]);
    assert.deepEqual(changes, [
      { type: 'breaker-changed', upstream: 'orders', operation: '', from: 'closed', to: 'open' },
    ]);
  });

  test('counts the attempts of one request: the third send of four is the last', () => {
    const { start } = bench({
      policy: { maxRetries: 3, codes: [503], backoffMs: 0 },
      upstream: { circuitBreaker: { consecutiveFailures: 3 } },
    });
    const fixture = start();
    for (let i = 0; i < 3; i += 1) fixture.last.respond(503);
    assert.equal(fixture.sends.length, 3);
    assert.deepEqual(fixture.told.slice(-1), ['refused:circuit-open']);
    assert.equal(fixture.run.retryAfterMs, 5000);
  });

  test('that refuses a retry leaves the original response where the upstream wants that', () => {
    const { start } = bench({
      policy: { maxRetries: 3, codes: [503], backoffMs: 0 },
      upstream: { circuitBreaker: { consecutiveFailures: 1 }, onOverflow: 'original' },
    });
    const fixture = start();
    fixture.last.respond(503, [], 'busy');
    assert.deepEqual(fixture.told, ['response:503', 'data:busy', 'complete']);
    assert.equal(fixture.run.reason, 'circuit-open');
  });

  test('that opens while a retry waits stops it, and the budget gets it back', () => {
    const budget = createRetryBudget({ kind: 'ratio', percent: 100, minRetryRate: { count: 0, intervalMs: 1000 } });
    const { start } = bench();
    const waiting = start({ budget, policy: { maxRetries: 1, codes: [500], backoffMs: 50 } });
    waiting.last.respond(500);
    assert.equal(waiting.sends.length, 1);
    start().last.reset();
    waiting.clock.advance(50);
    assert.deepEqual(waiting.told, ['retry:50', 'refused:circuit-open']);
    assert.equal(waiting.sends.length, 2);
  });

  test('is one an operation: what fails there does not stop what works here', () => {
    const { start } = bench();
    for (let i = 0; i < 2; i += 1) start({ operation: 'broken' }).last.reset();
    assert.equal(stateOf(start({ operation: 'broken' }), 'broken'), 'open');
    const works = start({ operation: 'works' });
    works.last.respond(200);
    assert.deepEqual(works.told, ['response:200', 'complete']);
  });

  test('lets one probe of many requests through when its time is over, and closes when that is answered', () => {
    const { start, changes } = bench();
    start().last.reset();
    const second = start();
    second.last.reset();
    second.clock.advance(1000);
    const [probe, ...others] = Array.from({ length: 10 }, () => start());
    assert.equal(probe?.sends.length, 3);
    for (const other of others) assert.deepEqual(other.told, ['failed:circuit_open:circuit-open']);
    probe?.last.respond(404);
    start().last.respond(200);
    assert.deepEqual(
      changes.map((change) => ('to' in change ? change.to : '')),
      ['open', 'half-open', 'closed'],
    );
  });

  test('is closed by the head of a probe whose body takes its time', () => {
    const { start } = bench();
    start().last.reset();
    start().last.reset();
    const probe = start({});
    probe.clock.advance(1000);
    const next = start();
    next.last.respond(200, [], 'slow', false);
    assert.equal(stateOf(next), 'closed');
  });

  test('gives the place of a probe whose client left to the next request', () => {
    const { start } = bench();
    start().last.reset();
    const second = start();
    second.last.reset();
    second.clock.advance(1000);
    start().run.cancel();
    assert.equal(stateOf(second), 'half-open');
    const probe = start();
    probe.last.respond(200);
    assert.equal(stateOf(probe), 'closed');
  });

  test('gives the place of a probe that found no endpoint to the next request', () => {
    const { start } = bench();
    const first = start();
    first.last.reset();
    start().last.reset();
    first.clock.advance(1000);
    for (const endpoint of first.upstream.endpoints) first.upstream.judge(endpoint, { drained: true });
    assert.deepEqual(start().told, ['failed:destination_unavailable:no-endpoint']);
    for (const endpoint of first.upstream.endpoints) first.upstream.judge(endpoint, { drained: false });
    const probe = start();
    probe.last.respond(200);
    assert.equal(stateOf(probe), 'closed');
  });

  const uncounted: readonly (readonly [string, (fixture: RunFixture) => void])[] = [
    ['a client that leaves', ({ run }) => run.cancel()],
    [
      'a client that leaves in the middle of the answer',
      ({ last, run }) => (last.respond(200, [], 'a', false), run.cancel()),
    ],
    ['a 404', ({ last }) => last.respond(404)],
    ['a 429', ({ last }) => last.respond(429)],
    ['no file descriptor here', ({ last }) => last.fail('local_resource_exhausted', 'connect', { source: 'internal' })],
    ['no free connection here', ({ last }) => last.fail('connection_limit_reached', 'select', { source: 'internal' })],
  ];
  for (const [name, end] of uncounted) {
    test(`does not count ${name}`, () => {
      const { start } = bench();
      for (let i = 0; i < 5; i += 1) end(start());
      assert.equal(stateOf(start()), 'closed');
    });
  }

  test('counts a response that is cut off, although its head was fine', () => {
    const { start } = bench();
    for (let i = 0; i < 2; i += 1) {
      const fixture = start();
      fixture.last.respond(200, [], 'half', false);
      fixture.last.fail('http_response_incomplete', 'body', { bytesSent: 10, bytesReceived: 10 });
    }
    assert.equal(stateOf(start()), 'open');
  });

  test('counts an attempt that had the time of its request and did not answer, not one that had no time', () => {
    const { start } = bench({ policy: { maxRetries: 1, codes: [503], backoffMs: 80 } });
    const late = start({ deadlineMs: 100 });
    late.last.respond(503);
    late.clock.advance(100);
    assert.deepEqual([late.sends.length, late.told.at(-1)], [2, 'failed:deadline_exceeded:deadline']);
    assert.equal(stateOf(late), 'closed');
    const slow = start({ deadlineMs: 300 });
    slow.clock.advance(300);
    assert.equal(stateOf(slow), 'open');
  });

  test('does not count the copy that lost', () => {
    const { start } = bench({ hedge: { delayMs: 10, max: 1 } });
    for (let i = 0; i < 5; i += 1) {
      const fixture = start();
      fixture.clock.advance(10);
      fixture.last.respond(200);
    }
    assert.equal(stateOf(start()), 'closed');
  });
});

test('an upstream that takes the place of another keeps its circuits, unless their settings changed', () => {
  const fixture = startRun({ upstream: { circuitBreaker: { consecutiveFailures: 1 } }, policy: { maxRetries: 0 } });
  fixture.last.reset();
  const { upstream } = fixture;
  const replace = (consecutiveFailures: number | undefined): string | undefined => {
    const next = createUpstream({
      name: 'orders',
      endpoints: upstream.endpoints,
      transport: upstream.transport,
      circuitBreaker: consecutiveFailures === undefined ? undefined : { consecutiveFailures },
      replaces: upstream,
    });
    return next.circuits?.of('').state(0);
  };
  assert.deepEqual([replace(1), replace(2), replace(undefined)], ['open', 'closed', undefined]);
});

test('operations without end do not fill the memory: the oldest of 1024 gives way', () => {
  const circuits = createCircuits({ consecutiveFailures: 1 }, () => undefined);
  const first = circuits.of('0');
  for (let i = 1; i < 1024; i += 1) circuits.of(String(i));
  assert.equal(circuits.of('0'), first);
  circuits.of('1024');
  assert.equal(circuits.states(0).length, 1024);
  assert.notEqual(circuits.of('0'), first);
});

test('wrong settings are refused when the upstream is made, not at its first request', () => {
  assert.throws(() => createCircuits({}, () => undefined), /would never open/);
});
