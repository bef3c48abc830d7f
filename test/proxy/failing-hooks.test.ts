import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import type { HookName, ProxyHooks } from '../../src/proxy/phases.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { refusedAddress } from '../support/addresses.ts';
import { ask, connectHttp2 } from '../support/http2-client.ts';
import { requestRaw } from '../support/raw-client.ts';
import type { OriginScript } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { createSignal } from '../support/signal.ts';

type Fault = 'throws' | 'rejects' | 'throws what is no Error' | 'never answers';

/** What a faulty hook does when it is called. */
const FAULTS: Readonly<Record<Fault, () => unknown>> = {
  throws: () => {
    throw new Error('a bug in user code');
  },
  rejects: () => Promise.reject(new Error('a bug in user code')),
  'throws what is no Error': () => {
    // oxlint-disable-next-line typescript/only-throw-error -- user code may
    throw 'a bug in user code';
  },
  'never answers': () => new Promise(() => {}),
};

interface Scene {
  /** What the upstream does with the first request. */
  readonly at: 'answers' | 'refuses' | 'breaks';
  /** `ends`: the request ends with 500, or 504 for want of an answer. `cuts`: an answer had begun. `none`: it goes on. */
  readonly effect: 'ends' | 'cuts' | 'none';
  /** Of an answer that the hook does not change. */
  readonly status: number;
}

const SCENES: Readonly<Record<HookName, Scene>> = {
  createContext: { at: 'answers', effect: 'ends', status: 200 },
  requestFilter: { at: 'answers', effect: 'ends', status: 200 },
  selectUpstream: { at: 'answers', effect: 'ends', status: 200 },
  upstreamRequestFilter: { at: 'answers', effect: 'ends', status: 200 },
  connected: { at: 'answers', effect: 'ends', status: 200 },
  failToConnect: { at: 'refuses', effect: 'ends', status: 502 },
  errorWhileProxy: { at: 'breaks', effect: 'ends', status: 502 },
  responseFilter: { at: 'answers', effect: 'ends', status: 200 },
  responseBodyFilter: { at: 'answers', effect: 'cuts', status: 200 },
  failToProxy: { at: 'refuses', effect: 'ends', status: 502 },
  suppressErrorLog: { at: 'refuses', effect: 'none', status: 502 },
  suppressRetryLog: { at: 'refuses', effect: 'none', status: 502 },
  requestSummary: { at: 'refuses', effect: 'none', status: 502 },
  log: { at: 'answers', effect: 'none', status: 200 },
};

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly complete: boolean;
}

type Front = 'HTTP/1.1' | 'HTTP/2';

async function request(t: TestContext, front: Front, port: number): Promise<Answer> {
  if (front === 'HTTP/1.1') return requestRaw(port);
  const { status, text, resetCode } = await ask(connectHttp2(port, { t }));
  return { status, text, complete: resetCode === 0 };
}

const FINE: OriginScript = { do: 'respond', body: 'fine' };

async function play(t: TestContext, front: Front, hook: HookName, fault: Fault): Promise<void> {
  const { at, effect, status } = SCENES[hook];
  const origin = await startOrigin(at === 'breaks' ? { do: 'close' } : FINE, { t });
  const refused = await refusedAddress({ t });
  const records: AccessRecord[] = [];
  const lines: string[] = [];
  const signal = createSignal();
  let isFaulty = true;
  const first = at === 'refuses' ? refused.address : origin.address;
  const isLate = fault === 'never answers';
  const hooks: ProxyHooks<unknown> = {
    selectUpstream: () => (isFaulty ? first : origin.address),
    // Only what is to be late has little time: a slow machine must not make anything else late.
    requestFilter(exchange) {
      if (!isFaulty) exchange.plan = { ...exchange.plan, timeouts: { ...exchange.plan.timeouts, requestMs: 15_000 } };
    },
  };
  const healthy = hooks[hook as 'selectUpstream'] as ((...all: readonly unknown[]) => unknown) | undefined;
  Object.assign(hooks, {
    [hook]: (...args: readonly unknown[]) => (isFaulty ? FAULTS[fault]() : healthy?.(...args)),
  });
  const proxy = createProxy(hooks, {
    timeouts: { requestMs: isLate && effect === 'ends' ? 200 : 15_000, idleMs: isLate ? 200 : 15_000 },
    onRecord: (record) => {
      records.push(record);
      signal.changed();
    },
    diagnostics: (_level, line) => {
      lines.push(line);
      signal.changed();
    },
  });
  t.after(() => proxy.close());
  const { port } = (await proxy.listen('127.0.0.1:0')).address;

  const answer = await request(t, front, port);
  const record = await signal.until(() => records[0], { what: 'the record' });
  const expected = effect === 'ends' ? (isLate ? 504 : 500) : status;
  assert.equal(answer.status, expected);
  assert.equal(record.status, expected);
  assert.equal(answer.complete, effect !== 'cuts');
  assert.equal(record.truncated, effect === 'cuts');
  if (effect !== 'none') assert.match(record.error ?? '', isLate ? /deadline/ : /a bug in user code/);
  // Nobody waits for `log`, for ever.
  if (hook !== 'log' || !isLate) {
    const word = isLate ? 'deadline' : `${hook}: a bug in user code`;
    await signal.until(() => lines.some((line) => line.includes(word)), { what: `a line that says ${word}` });
  }

  isFaulty = false;
  origin.setScript(FINE);
  assert.equal((await request(t, front, port)).text, 'fine');
  assert.equal(proxy.inflightCount, 0);
  await signal.until(() => records.length === 2, { what: 'the second record' });
}

for (const front of ['HTTP/1.1', 'HTTP/2'] as const) {
  describe(
    `over ${front}, a hook that fails ends its own request, with a record, and nothing else`,
    { concurrency: 8 },
    () => {
      for (const hook of Object.keys(SCENES) as HookName[]) {
        for (const fault of Object.keys(FAULTS) as Fault[]) {
          test(`${hook} ${fault}`, (t) => play(t, front, hook, fault));
        }
      }
    },
  );
}
