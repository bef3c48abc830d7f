import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCallTransport } from '../../src/client/call/call-transport.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { fetch } from '../../src/client/fetch.ts';
import type { LayerOptions } from '../../src/client/layer-options.ts';
import { wrapFetchAt } from '../../src/client/wrap-fetch.ts';
import type { WrappedFetch } from '../../src/client/wrap-fetch.ts';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createRandom } from './abort-storm.ts';

failOnLeaks();

const REQUEST_COUNT = 100;
/** Of the budget's defaults: 20 % of the requests, and 10 retries a second whatever the traffic. */
const SHARE = 20;
const RESERVE_PER_SECOND = 10;
const EAGER = { maxRetries: 5, codes: [503], on: ['unsent', 'reset'], backoffMs: 100, maxBackoffMs: 1000 } as const;

/** Runs all calls to their end in a time that jumps from one timer to the next. */
async function runAll(clock: ManualClock, calls: readonly Promise<unknown>[]): Promise<void> {
  let isOver = false;
  const all = Promise.allSettled(calls).then(() => (isOver = true));
  for (let step = 0; !isOver && step < 20_000; step += 1) {
    await nextTurn();
    if (!isOver && clock.nextDueMs !== undefined) clock.advance(clock.nextDueMs - clock.nowMs());
  }
  await all;
}

/** Clients with an origin that always fails, in one time; `sentAtMs` has every send. */
function clientsOf(
  count: number,
  options: LayerOptions,
  clock: ManualClock,
): { clients: WrappedFetch[]; sentAtMs: number[] } {
  const random = createRandom(7);
  const sentAtMs: number[] = [];
  const inner = async (): Promise<Response> => {
    sentAtMs.push(clock.nowMs());
    return new Response('busy', { status: 503 });
  };
  const host = { clock, random, transport: createCallTransport(clock) };
  return { clients: Array.from({ length: count }, () => wrapFetchAt(inner, options, host)), sentAtMs };
}

describe('a dead origin', () => {
  test('gets from 100 requests at once no more than their share and the reserve besides', async () => {
    const clock = createManualClock();
    const { clients, sentAtMs } = clientsOf(1, { retry: EAGER }, clock);
    await runAll(
      clock,
      Array.from({ length: REQUEST_COUNT }, () => clients[0]!('http://dead.example/')),
    );
    const seconds = Math.ceil(clock.nowMs() / 1000);
    const most = REQUEST_COUNT + SHARE + RESERVE_PER_SECOND * seconds;
    assert.ok(sentAtMs.length > REQUEST_COUNT, 'there are retries');
    assert.ok(sentAtMs.length <= most, `${sentAtMs.length} sends in ${seconds} s`);
  });

  test('where nobody listens is tried by 100 requests no more often', async (t) => {
    const url = `http://${(await refusedAddress({ t })).address}/`;
    let sendCount = 0;
    const beganAtMs = performance.now();
    const dispatcher = createDispatcher({
      retry: { ...EAGER, backoffMs: 0, maxBackoffMs: 0 },
      onRequestEnd: ({ report }) => (sendCount += report.attempts.length),
    });
    const send = (): Promise<unknown> => assert.rejects(fetch(url, { dispatcher }), isRequestFailedError);
    await Promise.all(Array.from({ length: REQUEST_COUNT }, send));
    await dispatcher.close();
    const seconds = Math.ceil((performance.now() - beganAtMs) / 1000);
    assert.ok(sendCount > REQUEST_COUNT && sendCount <= REQUEST_COUNT + SHARE + RESERVE_PER_SECOND * (seconds + 1));
  });
});

describe('the second wave of 50 clients that fail together', () => {
  const WINDOW_MS = 1000;
  const rows: readonly (readonly [string, LayerOptions['retry'], number])[] = [
    ['spreads over at least 80 % of the backoff window', undefined, 0.8],
    ['spreads over at least 40 % of it with half of the wait fixed', { jitter: 'equal' }, 0.4],
  ];
  for (const [name, changes, share] of rows) {
    test(name, async () => {
      const clock = createManualClock();
      const retry = {
        codes: [503],
        maxRetries: 1,
        backoffMs: WINDOW_MS,
        maxBackoffMs: WINDOW_MS,
        ...(changes as object),
      };
      const { clients, sentAtMs } = clientsOf(50, { retry }, clock);
      await runAll(
        clock,
        clients.map((client) => client('http://busy.example/')),
      );
      const second = sentAtMs.slice(50);
      assert.equal(second.length, 50);
      const spreadMs = Math.max(...second) - Math.min(...second);
      assert.ok(spreadMs >= share * WINDOW_MS, `they are spread over ${Math.round(spreadMs)} ms`);
      // Spread, and not in two heaps at its ends: no tenth of the spread has a third of them.
      const tenths = second.map((ms) => Math.min(9, Math.floor(((ms - Math.min(...second)) / spreadMs) * 10)));
      const fullest = Math.max(
        ...Array.from({ length: 10 }, (_, tenth) => tenths.filter((one) => one === tenth).length),
      );
      assert.ok(fullest <= 17, `${fullest} in one tenth`);
    });
  }
});
