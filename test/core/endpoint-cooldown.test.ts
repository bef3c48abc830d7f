import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEndpointCooldown } from '../../src/core/endpoint-cooldown.ts';

describe('an endpoint that could not be connected to', () => {
  test('pauses for 100 ms, then 200 ms, doubling to 10 s', () => {
    const cooldown = createEndpointCooldown();
    let nowMs = 0;
    const pauses: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      cooldown.chosen(nowMs);
      cooldown.failed(nowMs);
      const from = nowMs;
      while (cooldown.pauses(nowMs)) nowMs += 50;
      pauses.push(nowMs - from);
    }
    assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  });

  test('never pauses before a failure', () => {
    const cooldown = createEndpointCooldown();
    cooldown.chosen(0);
    assert.equal(cooldown.pauses(0), false);
  });

  test('is used again as soon as a connection is established', () => {
    const cooldown = createEndpointCooldown();
    cooldown.failed(0);
    cooldown.connected();
    assert.equal(cooldown.pauses(0), false);
    cooldown.failed(10);
    assert.equal(cooldown.pauses(109), true);
    assert.equal(cooldown.pauses(110), false);
  });

  test('counts attempts that were under way together as one failure', () => {
    const cooldown = createEndpointCooldown();
    for (let i = 0; i < 50; i += 1) cooldown.failed(i);
    assert.equal(cooldown.pauses(99), true);
    assert.equal(cooldown.pauses(100), false);
  });

  test('is probed by one attempt at a time', () => {
    const cooldown = createEndpointCooldown();
    cooldown.failed(0);
    cooldown.chosen(100);
    assert.equal(cooldown.pauses(101), true);
    assert.equal(cooldown.pauses(199), true);
    assert.equal(cooldown.pauses(200), false);
  });
});
