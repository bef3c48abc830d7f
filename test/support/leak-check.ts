import assert from 'node:assert/strict';
import { after } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long resources may take to go after they were closed; only a failure waits so long. */
const defaultSettleMs = 3_000;

/**
 * Remembers what keeps this process alive now (sockets, servers, timers, child processes), and later fails when there is more.
 * Call `verify` after everything was closed: it lets the event loop turn until nothing is left over.
 */
export function watchLeaks(settleMs: number = defaultSettleMs): { verify(): Promise<void> } {
  const before = countResources();
  return {
    async verify() {
      const untilMs = performance.now() + settleMs;
      let left = leftOver(before);
      while (left.length > 0 && performance.now() < untilMs) {
        await nextTurn();
        left = leftOver(before);
      }
      assert.deepEqual(left, [], 'these resources are still open');
    },
  };
}

/** Wraps a test so that it fails when it leaves something open. */
export function leakFree<A extends readonly unknown[]>(
  test: (...args: A) => Promise<void>,
  settleMs?: number,
): (...args: A) => Promise<void> {
  return async (...args) => {
    const leaks = watchLeaks(settleMs);
    await test(...args);
    await leaks.verify();
  };
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    // Immediates are the loop turning; requests to the operating system end by themselves.
    if (name === 'Immediate' || name.endsWith('ReqWrap')) continue;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function leftOver(before: ReadonlyMap<string, number>): string[] {
  return [...countResources()]
    .filter(([name, count]) => count > (before.get(name) ?? 0))
    .map(([name, count]) => `${name}: ${count - (before.get(name) ?? 0)} more`);
}

/** Called once at the top of a test file: fails when the file's tests, all their `after` hooks done, left something open. */
export function failOnLeaks(): void {
  const leaks = watchLeaks();
  after(() => leaks.verify());
}
