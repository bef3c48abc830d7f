import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitBreakerOptions,
} from '../../src/core/circuit-breaker.ts';
import type { Verdict } from '../../src/core/verdict.ts';

/** Sends one attempt at `nowMs` that ends at once; returns whether it was let through. */
function send(breaker: CircuitBreaker, verdict: Verdict, nowMs = 0): boolean {
  const pass = breaker.tryPass(nowMs);
  if (pass < 0) return false;
  breaker.record(pass, verdict, nowMs);
  return true;
}

function opened(options: Partial<CircuitBreakerOptions> = {}): CircuitBreaker {
  const breaker = createCircuitBreaker({ consecutiveFailures: 1, openForMs: 1000, ...options });
  send(breaker, 'failure');
  assert.equal(breaker.state(0), 'open');
  return breaker;
}

describe('a closed circuit', () => {
  test('opens at the given number of failures in a row, and the next attempt is refused', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 5 });
    for (let i = 0; i < 5; i += 1) assert.equal(send(breaker, 'failure'), true);
    assert.equal(send(breaker, 'success'), false);
    assert.equal(breaker.state(0), 'open');
  });

  test('counts attempts, not requests: with three attempts each, the second request meets the threshold of five', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 5 });
    let wireCalls = 0;
    for (let request = 0; request < 3; request += 1) {
      for (let attempt = 0; attempt < 3; attempt += 1) if (send(breaker, 'failure')) wireCalls += 1;
    }
    assert.equal(wireCalls, 5);
  });

  test('starts over after a success', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 2 });
    for (let i = 0; i < 10; i += 1) {
      send(breaker, 'failure');
      send(breaker, 'success');
    }
    assert.equal(breaker.state(0), 'closed');
  });

  test('does not count what is no evidence, nor lets it hide failures', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 2, failurePercent: 100, minRequests: 3 });
    for (const verdict of ['alive', 'none', 'failure', 'alive', 'none'] as const) send(breaker, verdict);
    assert.equal(breaker.state(0), 'closed');
    send(breaker, 'failure');
    assert.equal(breaker.state(0), 'open');
  });

  test('opens at the given share of failures, from the minimum volume on', () => {
    const breaker = createCircuitBreaker({ failurePercent: 50, minRequests: 4 });
    for (const verdict of ['failure', 'success', 'failure'] as const) send(breaker, verdict);
    assert.equal(breaker.state(0), 'closed');
    send(breaker, 'failure');
    assert.equal(breaker.state(0), 'open');
  });

  test('admits everything and asks nobody to wait', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 1 });
    assert.equal(breaker.admits(0), true);
    assert.equal(breaker.waitMs(0), 0);
    assert.equal(breaker.isProbe(breaker.tryPass(0)), false);
  });
});

describe('an open circuit', () => {
  test('lets nothing through for its time and says how long that is', () => {
    const breaker = opened();
    assert.deepEqual([breaker.admits(999), breaker.tryPass(999), breaker.state(999)], [false, -1, 'open']);
    assert.deepEqual([breaker.waitMs(0), breaker.waitMs(999), breaker.waitMs(1000)], [1000, 1, 0]);
    assert.deepEqual([breaker.admits(1000), breaker.state(1000)], [true, 'half-open']);
    assert.ok(breaker.tryPass(1000) > 0);
  });

  test('ignores what attempts sent before it opened have to say', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 1, openForMs: 1000 });
    const before = breaker.tryPass(0);
    send(breaker, 'failure');
    breaker.record(before, 'success', 10);
    assert.equal(breaker.state(10), 'open');
    const probe = breaker.tryPass(1000);
    breaker.record(before, 'failure', 1001);
    assert.equal(breaker.state(1001), 'half-open');
    assert.deepEqual([breaker.isProbe(before), breaker.isProbe(probe)], [false, true]);
  });

  test('does not open sooner when the clock stands still or goes back', () => {
    const breaker = opened();
    assert.equal(breaker.admits(-5000), false);
  });
});

describe('a half-open circuit', () => {
  for (const halfOpenRequests of [1, 3]) {
    test(`lets exactly ${halfOpenRequests} of ten parallel requests through`, () => {
      const breaker = opened({ halfOpenRequests });
      const passes = Array.from({ length: 10 }, () => breaker.tryPass(1000));
      assert.equal(passes.filter((pass) => pass >= 0).length, halfOpenRequests);
      assert.equal(breaker.admits(1000), false);
    });
  }

  test('closes when all of its probes came back, and not before', () => {
    const breaker = opened({ halfOpenRequests: 2 });
    assert.equal(send(breaker, 'success', 1000), true);
    assert.equal(breaker.state(1000), 'half-open');
    assert.equal(send(breaker, 'success', 1000), true);
    assert.equal(breaker.state(1000), 'closed');
    assert.deepEqual([breaker.admits(1000), breaker.waitMs(1000)], [true, 0]);
  });

  test('closes also when its requests are few and far between', () => {
    const breaker = opened({ halfOpenRequests: 3 });
    for (const nowMs of [1000, 50_000, 100_000]) send(breaker, 'success', nowMs);
    assert.equal(breaker.state(100_000), 'closed');
  });

  test('takes an answer that does not count for a sign of life', () => {
    const breaker = opened();
    send(breaker, 'alive', 1000);
    assert.equal(breaker.state(1000), 'closed');
  });

  test('opens again at the first failing probe, although the window holds too few requests for the share', () => {
    const breaker = opened({ failurePercent: 50, minRequests: 5 });
    send(breaker, 'failure', 1000);
    assert.deepEqual([breaker.state(1000), breaker.admits(1001)], ['open', false]);
  });

  test('stays open twice as long after each failing probe, up to the ceiling, and as at first once it was closed', () => {
    const breaker = opened({ maxOpenForMs: 3000 });
    let nowMs = 0;
    const waits: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      waits.push(breaker.waitMs(nowMs));
      nowMs += breaker.waitMs(nowMs);
      send(breaker, 'failure', nowMs);
    }
    assert.deepEqual(waits, [1000, 2000, 3000, 3000]);
    nowMs += breaker.waitMs(nowMs);
    send(breaker, 'success', nowMs);
    assert.equal(breaker.state(nowMs), 'closed');
    send(breaker, 'failure', nowMs);
    assert.equal(breaker.waitMs(nowMs), 1000);
  });

  test('gives the place of a probe whose client left to another', () => {
    const breaker = opened();
    send(breaker, 'none', 1000);
    assert.deepEqual([breaker.state(1000), breaker.admits(1000)], ['half-open', true]);
    send(breaker, 'success', 1000);
    assert.equal(breaker.state(1000), 'closed');
  });

  test('gives up probes that hang for as long as it was open, and ignores what they find at last', () => {
    const breaker = opened();
    const hanging = breaker.tryPass(1000);
    assert.deepEqual([breaker.admits(1999), breaker.waitMs(1500)], [false, 500]);
    const next = breaker.tryPass(2000);
    assert.ok(next >= 0);
    breaker.record(hanging, 'failure', 2001);
    assert.equal(breaker.state(2001), 'half-open');
    assert.equal(breaker.admits(2001), false);
    breaker.record(next, 'success', 2002);
    assert.equal(breaker.state(2002), 'closed');
    breaker.record(hanging, 'failure', 2003);
    assert.equal(breaker.state(2003), 'closed');
  });

  test('keeps the probes that came back when it gives up those that hang', () => {
    const breaker = opened({ halfOpenRequests: 2 });
    breaker.tryPass(1000);
    send(breaker, 'success', 1500);
    assert.equal(breaker.admits(2499), false);
    send(breaker, 'success', 2500);
    assert.equal(breaker.state(2500), 'closed');
  });

  test('forgets the failures from before it opened', () => {
    const breaker = createCircuitBreaker({
      consecutiveFailures: 2,
      failurePercent: 60,
      minRequests: 3,
      openForMs: 100,
    });
    send(breaker, 'failure', 0);
    send(breaker, 'failure', 0);
    send(breaker, 'success', 100);
    send(breaker, 'failure', 101);
    assert.equal(breaker.state(101), 'closed');
  });

  test('forgets the probes of the time before', () => {
    const breaker = opened({ halfOpenRequests: 2 });
    send(breaker, 'success', 1000);
    send(breaker, 'failure', 1000);
    send(breaker, 'success', 3000);
    assert.equal(breaker.state(3000), 'half-open');
  });
});

describe('settings', () => {
  test('by default it is open for 5 s, doubles up to a minute, and one probe closes it', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 1 });
    send(breaker, 'failure');
    let nowMs = 0;
    for (let i = 0; i < 5; i += 1) {
      nowMs += breaker.waitMs(nowMs);
      send(breaker, 'failure', nowMs);
    }
    assert.equal(nowMs, 5_000 + 10_000 + 20_000 + 40_000 + 60_000);
    assert.equal(breaker.waitMs(nowMs), 60_000);
  });

  test('an open time over a minute is its own ceiling', () => {
    const breaker = createCircuitBreaker({ consecutiveFailures: 1, openForMs: 90_000 });
    send(breaker, 'failure');
    send(breaker, 'failure', 90_000);
    assert.equal(breaker.waitMs(90_000), 90_000);
  });

  const refused: readonly (readonly [CircuitBreakerOptions, RegExp])[] = [
    [{}, /never open; give consecutiveFailures or failurePercent/],
    [{ minRequests: 5 }, /never open/],
    [{ consecutiveFailures: 0 }, /circuit breaker: consecutiveFailures is 0; give a whole number from 1 to 1000000/],
    [{ failurePercent: 101 }, /failurePercent is 101; give a whole number from 1 to 100/],
    [{ failurePercent: 0.5 }, /failurePercent is 0.5/],
    [{ failurePercent: 50, minRequests: 0 }, /minRequests is 0; give a whole number from 1/],
    [{ failurePercent: 50, windowMs: 999 }, /windowMs is 999; give a whole number from 1000 to 3600000/],
    [{ consecutiveFailures: 1, openForMs: 0 }, /openForMs is 0; give a whole number from 1 to 3600000/],
    [
      { consecutiveFailures: 1, openForMs: 10, maxOpenForMs: 9 },
      /maxOpenForMs is 9; give a whole number from 10 to 3600000/,
    ],
    [{ consecutiveFailures: 1, halfOpenRequests: 0 }, /halfOpenRequests is 0; give a whole number from 1 to 1000/],
    [{ consecutiveFailures: NaN }, /consecutiveFailures is NaN/],
  ];
  for (const [options, message] of refused) {
    test(`${JSON.stringify(options)} is refused by name`, () => {
      assert.throws(() => createCircuitBreaker(options), { name: 'RangeError', message });
    });
  }
});
