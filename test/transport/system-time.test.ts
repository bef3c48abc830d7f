import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { TimerWheel } from '../../src/transport/timer-wheel.ts';

const moduleUrl = new URL('../../src/transport/system-time.ts', import.meta.url).href;

function runScript(code: string): { status: number | null; stdout: string } {
  const source = `import { createSystemClock } from ${JSON.stringify(moduleUrl)};\nconst clock = createSystemClock();\n${code}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8', timeout: 20_000 });
}

test('a timer never fires before its delay, coarse or precise', async () => {
  const clock = createSystemClock();
  const early: string[] = [];
  const waits: Promise<void>[] = [];
  for (const precise of [false, true]) {
    for (const delayMs of [0, 0.4, 1, 9.9, 10, 10.1, 25, 61.5]) {
      const setAtMs = clock.nowMs();
      waits.push(
        new Promise((resolve) => {
          clock.setTimer(
            delayMs,
            () => {
              const elapsedMs = clock.nowMs() - setAtMs;
              if (elapsedMs < delayMs)
                early.push(`${String(delayMs)} (precise: ${String(precise)}) after ${String(elapsedMs)}`);
              resolve();
            },
            precise,
          );
        }),
      );
    }
  }
  await Promise.all(waits);
  assert.deepEqual(early, []);
});

test('timers of one wheel fire in the order of their ticks', async () => {
  const clock = createSystemClock();
  const order: number[] = [];
  await new Promise<void>((resolve) => {
    for (const delayMs of [80, 20, 50]) clock.setTimer(delayMs, () => order.push(delayMs));
    clock.setTimer(110, resolve);
  });
  assert.deepEqual(order, [20, 50, 80]);
});

test('a timer that is due after more than one turn of the wheel waits for its turn', () => {
  let nowMs = 0;
  const wheel = new TimerWheel(() => nowMs);
  let fired = 0;
  const timer = wheel.add(512 * 10 * 3 + 15, () => {
    fired += 1;
  });
  nowMs = 512 * 10;
  wheel.turn();
  assert.equal(fired, 0);
  nowMs = 512 * 10 * 3 + 14;
  wheel.turn();
  assert.equal(fired, 0);
  nowMs = 512 * 10 * 3 + 20;
  wheel.turn();
  assert.equal(fired, 1);
  timer.cancel();
  assert.equal(wheel.size, 0);
});

test('whatever is set, cancelled and slept through, each timer fires once, not early, at most a tick late', () => {
  const step = fc.record({
    advanceMs: fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 12_000 })),
    delays: fc.array(fc.oneof(fc.nat({ max: 60 }), fc.nat({ max: 20_000 }), fc.constant(2 ** 33)), { maxLength: 4 }),
    cancel: fc.array(fc.nat({ max: 50 }), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      let nowMs = 0;
      const wheel = new TimerWheel(() => nowMs);
      const timers: { dueMs: number; state: 'set' | 'fired' | 'cancelled'; cancel: () => void }[] = [];
      for (const { advanceMs, delays, cancel } of steps) {
        for (const delayMs of delays) {
          const entry = { dueMs: nowMs + delayMs, state: 'set' as 'set' | 'fired' | 'cancelled', cancel: () => {} };
          const timer = wheel.add(delayMs, () => {
            assert.equal(entry.state, 'set');
            assert.ok(nowMs >= entry.dueMs);
            entry.state = 'fired';
          });
          entry.cancel = () => timer.cancel();
          timers.push(entry);
        }
        for (const index of cancel) {
          const entry = timers[index];
          if (entry === undefined) continue;
          entry.cancel();
          if (entry.state === 'set') entry.state = 'cancelled';
        }
        nowMs += advanceMs;
        wheel.turn();
        for (const { state, dueMs } of timers) if (state === 'set') assert.ok(dueMs > nowMs - 10);
      }
      assert.equal(wheel.size, timers.filter(({ state }) => state === 'set').length);
      for (const entry of timers) entry.cancel();
      assert.equal(wheel.size, 0);
    }),
    { numRuns: 300 },
  );
});

test('a callback that throws does not take the timers behind it along', () => {
  let nowMs = 0;
  const wheel = new TimerWheel(() => nowMs);
  const fired: string[] = [];
  wheel.add(10, () => {
    throw new Error('from the first');
  });
  wheel.add(10, () => fired.push('second'));
  nowMs = 20;
  assert.throws(() => wheel.turn(), /from the first/);
  wheel.turn();
  assert.deepEqual(fired, ['second']);
  assert.equal(wheel.size, 0);
});

test('a timer may set and cancel others while it fires', () => {
  let nowMs = 0;
  const wheel = new TimerWheel(() => nowMs);
  const fired: string[] = [];
  wheel.add(10, () => {
    fired.push('a');
    b.cancel();
    wheel.add(0, () => fired.push('c'));
  });
  const b = wheel.add(10, () => fired.push('b'));
  nowMs = 10;
  wheel.turn();
  assert.deepEqual(fired, ['a']);
  nowMs = 30;
  wheel.turn();
  assert.deepEqual(fired, ['a', 'c']);
});

test('a delay beyond what the host can sleep does not fire at once', async () => {
  const clock = createSystemClock();
  const fired: string[] = [];
  const timers = [2 ** 31, 2 ** 40, Infinity].flatMap((delayMs) => [
    clock.setTimer(delayMs, () => fired.push('coarse')),
    clock.setTimer(delayMs, () => fired.push('precise'), true),
  ]);
  await new Promise<void>((resolve) => clock.setTimer(30, resolve));
  for (const timer of timers) timer.cancel();
  assert.deepEqual(fired, []);
});

test('a NaN delay is refused', () => {
  assert.throws(() => createSystemClock().setTimer(Number.NaN, () => {}), RangeError);
});

test('a process ends when its last timer fired, and one that was let go of does not keep it', () => {
  const { status, stdout } = runScript(`
    clock.setTimer(20, () => console.log('fired'));
    clock.setTimer(600_000, () => console.log('never')).unref();
    clock.setTimer(600_000, () => console.log('never'), true).unref();
    clock.setTimer(600_000, () => console.log('never')).cancel();
  `);
  assert.equal(stdout, 'fired\n');
  assert.equal(status, 0);
});

test('a pending timer keeps the process alive, also beside one that was let go of', () => {
  const { stdout } = runScript(`
    clock.setTimer(5, () => console.log('background')).unref();
    clock.setTimer(60, () => console.log('foreground'));
  `);
  assert.equal(stdout, 'background\nforeground\n');
});
