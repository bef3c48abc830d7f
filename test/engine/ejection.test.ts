import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOutlierPolicy } from '../../src/core/outlier-detection.ts';
import { createRetryBudget } from '../../src/core/retry-budget.ts';
import type { UpstreamChange } from '../../src/engine/upstream.ts';
import { createUpstream } from '../../src/engine/upstream.ts';
import type { FixtureOptions, RunFixture } from './run-fixture.ts';
import { startRun } from './run-fixture.ts';

/** Runs over one upstream in turn, whose endpoints are ejected for a second at two failures in a row. */
function bench(options: FixtureOptions = {}): { start(more?: FixtureOptions): RunFixture; changes: UpstreamChange[] } {
  const changes: UpstreamChange[] = [];
  let first: RunFixture | undefined;
  return {
    changes,
    start(more = {}) {
      const fixture = startRun({
        endpoints: ['a:1', 'b:1', 'c:1'],
        policy: { maxRetries: 0 },
        budget: createRetryBudget({ kind: 'none' }),
        ...options,
        ...more,
        ...(first === undefined ? {} : { shared: first }),
        upstream: {
          outliers: createOutlierPolicy({ consecutiveFailures: 2, baseEjectionMs: 1000 }),
          onChange: (change) => changes.push(change),
          ...options.upstream,
        },
      });
      first ??= fixture;
      return fixture;
    },
  };
}

/** Answers everything that goes to `endpoint` with `status`, and all else with 200; returns where requests went. */
function run(start: () => RunFixture, endpoint: string, status: number, count: number): string[] {
  return Array.from({ length: count }, () => {
    const { last } = start();
    last.respond(last.endpoint === endpoint ? status : 200);
    return last.endpoint;
  });
}

describe('an endpoint that keeps failing', () => {
  test('gets no more requests for a while, and then again', () => {
    const { start, changes } = bench();
    run(start, 'a:1', 503, 6);
    assert.deepEqual(new Set(run(start, 'a:1', 503, 20)), new Set(['b:1', 'c:1']));
    start().clock.advance(1000);
    assert.ok(run(start, 'a:1', 200, 6).includes('a:1'));
    const why = 'too many of its attempts failed';
    assert.deepEqual(changes, [
      { type: 'endpoint-ejected', upstream: 'orders', endpoint: 'a:1', why, forMs: 1000 },
      { type: 'endpoint-returned', upstream: 'orders', endpoint: 'a:1' },
    ]);
  });

  for (const status of [400, 404, 429, 500, 501]) {
    test(`is not ejected for ${status}: it serves`, () => {
      const { start, changes } = bench();
      run(start, 'a:1', status, 30);
      assert.deepEqual(changes, []);
    });
  }

  test('is counted for each attempt, those that were retried too', () => {
    const outliers = createOutlierPolicy({ consecutiveFailures: 1, maxEjectionPercent: 100 });
    const { start, changes } = bench({ policy: { maxRetries: 1, codes: [502], backoffMs: 0 }, upstream: { outliers } });
    const fixture = start();
    fixture.last.respond(502);
    fixture.last.respond(502);
    assert.deepEqual(
      changes.map((change) => ('endpoint' in change ? change.endpoint : '')),
      fixture.sends.map((send) => send.endpoint),
    );
    assert.equal(changes.length, 2);
  });

  test('is counted when it cuts its responses off', () => {
    const { start, changes } = bench({ endpoints: ['a:1', 'b:1'] });
    for (let i = 0; i < 4; i += 1) {
      const { last } = start();
      last.respond(200, [], 'half', last.endpoint !== 'a:1');
      if (last.endpoint === 'a:1') last.fail('http_response_incomplete', 'body', { bytesSent: 1, bytesReceived: 9 });
    }
    assert.deepEqual(
      changes.map((change) => ('endpoint' in change ? change.endpoint : '')),
      ['a:1'],
    );
  });

  test('is not blamed for a stale connection, a client that leaves, or a copy that lost', () => {
    const { start, changes } = bench({ endpoints: ['a:1', 'b:1'], hedge: { delayMs: 10, max: 1 } });
    for (let i = 0; i < 8; i += 1) {
      const fixture = start();
      if (i % 4 === 0) {
        fixture.last.reused = true;
        fixture.last.reset();
      } else if (i % 4 === 1) fixture.run.cancel();
      else {
        fixture.clock.advance(10);
        fixture.last.respond(200);
      }
    }
    assert.deepEqual(changes, []);
  });
});

describe('never', () => {
  test('is the last live endpoint ejected, however it fails', () => {
    const { start } = bench({ endpoints: ['a:1', 'b:1'] });
    for (let i = 0; i < 20; i += 1) start().last.respond(503);
    const { upstream } = start();
    assert.equal(upstream.endpoints.filter((endpoint) => endpoint.ejected).length, 1);
    assert.equal(upstream.panicking, false);
  });

  test('is the only live endpoint ejected while the other is down for another reason', () => {
    const { start, changes } = bench({ endpoints: ['a:1', 'b:1'] });
    const { upstream, last } = start();
    last.respond(200);
    upstream.judge(upstream.endpoints[1]!, { healthy: false });
    for (let i = 0; i < 10; i += 1) start().last.respond(502);
    assert.deepEqual(changes, []);
  });

  test('are more ejected than the share says', () => {
    const { start } = bench({ endpoints: ['a:1', 'b:1', 'c:1', 'd:1'] });
    for (let i = 0; i < 40; i += 1) start().last.respond(503);
    assert.equal(start().upstream.endpoints.filter((endpoint) => endpoint.ejected).length, 2);
  });
});

test('when all that is not ejected turns unhealthy, all are used, and the attempt says so', () => {
  const { start } = bench({ endpoints: ['a:1', 'b:1'] });
  run(start, 'a:1', 503, 4);
  const { upstream, last } = start();
  last.respond(200);
  upstream.judge(upstream.endpoints[1]!, { healthy: false });
  assert.equal(upstream.panicking, true);
  const panicked = Array.from({ length: 4 }, () => start());
  for (const fixture of panicked) fixture.last.respond(200);
  assert.deepEqual(new Set(panicked.map(({ run: { attempts } }) => attempts[0]?.endpoint)), new Set(['a:1', 'b:1']));
  assert.ok(panicked.every(({ run: { attempts } }) => attempts[0]?.panic === true));
});

test('an ejected endpoint that also cannot be connected to waits for both: the ejection, then the pause', () => {
  const { start } = bench({ endpoints: ['a:1', 'b:1'], policy: { maxRetries: 1 } });
  for (let i = 0; i < 6; i += 1) {
    const fixture = start();
    if (fixture.last.endpoint === 'a:1') fixture.last.refuse();
    fixture.last.respond(200);
    fixture.clock.advance(150);
  }
  const { upstream, last, clock } = start();
  last.respond(200);
  const [dead] = upstream.endpoints;
  assert.equal(dead?.ejected, true);
  clock.advance(1000);
  const after = start();
  after.last.respond(200);
  assert.equal(dead?.ejected, false);
});

test('an endpoint keeps its record in an upstream that takes the place of another, unless the settings changed', () => {
  const { start } = bench({ endpoints: ['a:1', 'b:1'] });
  run(start, 'a:1', 503, 4);
  const { upstream } = start();
  const replace = (baseEjectionMs: number | undefined): boolean[] => {
    const next = createUpstream({
      name: 'orders',
      endpoints: upstream.endpoints.map(({ address }) => ({ address })),
      transport: upstream.transport,
      outliers:
        baseEjectionMs === undefined ? undefined : createOutlierPolicy({ consecutiveFailures: 2, baseEjectionMs }),
      replaces: upstream,
    });
    next.setEndpoints(
      upstream.endpoints.map(({ address }) => ({ address })),
      upstream.endpoints,
    );
    return next.endpoints.map((endpoint) => endpoint.ejected);
  };
  assert.deepEqual(replace(1000), [true, false]);
  assert.deepEqual(replace(2000), [false, false]);
  assert.deepEqual(replace(undefined), [false, false]);
});
