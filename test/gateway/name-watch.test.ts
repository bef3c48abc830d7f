import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { NameWatch } from '../../src/gateway/name-watch.ts';
import { answerTimeoutMs, createNameWatch, maxStaleMs } from '../../src/gateway/name-watch.ts';
import { refusedBecause } from '../../src/gateway/refused-address.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { createManualClock } from '../support/manual-clock.ts';

interface Setting {
  readonly clock: ManualClock;
  readonly watch: NameWatch;
  readonly said: string[];
  /** What the next questions are answered with: addresses, an error's code, or `silence`. */
  answer: readonly string[] | string;
  questionCount: number;
  changeCount: number;
  /** Lets time pass and the answers come in. */
  pass(ms: number): Promise<void>;
}

function setting(): Setting {
  const clock = createManualClock();
  const self: Setting = {
    clock,
    said: [],
    answer: ['10.0.0.1'],
    questionCount: 0,
    changeCount: 0,
    watch: createNameWatch({
      host: 'orders.internal',
      refreshMs: 10_000,
      clock,
      random: () => 0.5,
      say: (message) => self.said.push(message),
      resolve: () => {
        self.questionCount += 1;
        if (self.answer === 'silence') return new Promise(() => {});
        if (typeof self.answer === 'string')
          return Promise.reject(Object.assign(new Error(self.answer), { code: self.answer }));
        return Promise.resolve(self.answer);
      },
    }),
    async pass(ms) {
      clock.advance(ms);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
  };
  return self;
}

async function started(): Promise<Setting> {
  const one = setting();
  await one.watch.ask();
  one.watch.start(() => {
    one.changeCount += 1;
  });
  return one;
}

test('a name is asked once per refresh, and a change is told once', async () => {
  const one = await started();
  await one.pass(10_000);
  deepEqual([one.questionCount, one.changeCount], [2, 0]);
  one.answer = ['10.0.0.3', '10.0.0.2', '10.0.0.3'];
  await one.pass(10_000);
  deepEqual([one.changeCount, one.watch.addresses], [1, ['10.0.0.2', '10.0.0.3']]);
  one.answer = ['10.0.0.2', '10.0.0.3'];
  await one.pass(10_000);
  equal(one.changeCount, 1, 'another order is no change');
});

for (const failure of ['ENOTFOUND', 'ESERVFAIL', 'EAI_AGAIN']) {
  test(`${failure} keeps the last good addresses for an hour, and is told once`, async () => {
    const one = await started();
    one.answer = failure;
    for (let waitedMs = 0; waitedMs + 10_000 <= maxStaleMs; waitedMs += 10_000) await one.pass(10_000);
    deepEqual(one.watch.addresses, ['10.0.0.1']);
    equal(one.said.length, 1);
    equal(one.said[0]!.includes(failure) && one.said[0]!.includes('stay in use'), true);
    await one.pass(10_000);
    deepEqual([one.watch.addresses, one.changeCount], [[], 1]);
    one.answer = ['10.0.0.9'];
    await one.pass(10_000);
    deepEqual(one.watch.addresses, ['10.0.0.9']);
    equal(one.said[1], 'orders.internal: its addresses are known again');
  });
}

test('silence is a failure after five seconds, and the next question follows', async () => {
  const one = setting();
  one.answer = 'silence';
  const asked = one.watch.ask();
  one.clock.advance(answerTimeoutMs);
  await asked;
  equal(one.watch.problem, 'no answer within 5000 ms');
  one.watch.start(() => {});
  one.answer = ['10.0.0.1'];
  await one.pass(10_000);
  deepEqual([one.watch.addresses, one.watch.problem], [['10.0.0.1'], undefined]);
});

test('a stopped watch asks no more', async () => {
  const one = await started();
  one.watch.stop();
  await one.pass(100_000);
  deepEqual([one.questionCount, one.clock.pendingCount], [1, 0]);
});

test('refused addresses are left out, and told', async () => {
  const one = setting();
  one.answer = ['169.254.169.254', '10.0.0.1'];
  await one.watch.ask();
  deepEqual(one.watch.addresses, ['10.0.0.1']);
  deepEqual(one.said, ['orders.internal: 169.254.169.254 is refused: link-local']);
});

test('an answer of refused addresses alone is no answer', async () => {
  const one = await started();
  one.answer = ['::ffff:169.254.169.254'];
  await one.pass(10_000);
  deepEqual(one.watch.addresses, ['10.0.0.1']);
});

for (const [address, why] of [
  ['127.0.0.1', undefined],
  ['10.1.2.3', undefined],
  ['::1', undefined],
  ['2001:db8::1', undefined],
  ['::ffff:10.0.0.1', undefined],
  ['0.0.0.0', 'unspecified'],
  ['::', 'unspecified'],
  ['::ffff:0.0.0.0', 'unspecified'],
  ['169.254.169.254', 'link-local'],
  ['::ffff:169.254.169.254', 'link-local'],
  ['::ffff:a9fe:a9fe', 'link-local'],
  ['64:ff9b::a9fe:a9fe', 'link-local'],
  ['fe80::1', 'link-local'],
  ['224.0.0.1', 'multicast or broadcast'],
  ['255.255.255.255', 'multicast or broadcast'],
  ['::ffff:224.0.0.1', 'multicast or broadcast'],
  ['ff02::1', 'multicast or broadcast'],
  ['orders.internal', 'not an IP address'],
] as const)
  test(`${address} is ${why ?? 'taken'}`, () => equal(refusedBecause(address), why));
