import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { attemptsOf } from '../../src/client/attempts.ts';
import type { RequestReport } from '../../src/client/attempts.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import type { RequestEnd } from '../../src/client/client-state.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { CallInput } from './callers.ts';
import { CALLERS } from './callers.ts';

failOnLeaks();

interface Row {
  readonly name: string;
  readonly input?: CallInput;
  readonly script?: OriginScript;
  /** Nobody listens at the request's own origin; the scripted one stands in. */
  readonly failover?: true;
  readonly options?: ClientOptions;
  /** Status and text, or what kind of failure. */
  readonly outcome: string;
  /** How each attempt ended. */
  readonly attempts: readonly (number | string)[];
  readonly reason: string;
  /** What the scripted origin saw: methods and bodies. */
  readonly seen: readonly string[];
}

const busy = { do: 'respond', status: 503, body: 'busy' } as const;
const fine = { do: 'respond', body: 'fine' } as const;
const CODES: ClientOptions = { retry: { codes: [503], maxRetries: 2, curve: 'fixed', backoffMs: 1 } };

const ROWS: readonly Row[] = [
  { name: 'a success', outcome: '200 fine', attempts: [200], reason: 'success', seen: ['GET '] },
  {
    name: 'an answer that the codes name',
    script: { requests: [busy, fine] },
    options: CODES,
    outcome: '200 fine',
    attempts: [503, 200],
    reason: 'success',
    seen: ['GET ', 'GET '],
  },
  {
    name: 'a PUT, with the same bytes in both attempts',
    input: { method: 'PUT', body: 'once and again' },
    script: { requests: [busy, fine] },
    options: CODES,
    outcome: '200 fine',
    attempts: [503, 200],
    reason: 'success',
    seen: ['PUT once and again', 'PUT once and again'],
  },
  {
    name: 'attempts that are used up end with the last answer and its body',
    script: { requests: [busy] },
    options: CODES,
    outcome: '503 busy',
    attempts: [503, 503, 503],
    reason: 'attempts-exhausted',
    seen: ['GET ', 'GET ', 'GET '],
  },
  {
    name: 'a POST that was answered is not sent again, and its answer is passed on',
    input: { method: 'POST', body: 'pay' },
    script: { requests: [busy, fine] },
    options: CODES,
    outcome: '503 busy',
    attempts: [503],
    reason: 'not-idempotent',
    seen: ['POST pay'],
  },
  {
    name: 'a keyed POST is sent again, with its key',
    input: { method: 'POST', body: 'pay', headers: { 'idempotency-key': 'k1' } },
    script: { requests: [busy, fine] },
    options: CODES,
    outcome: '200 fine',
    attempts: [503, 200],
    reason: 'success',
    seen: ['POST pay', 'POST pay'],
  },
  {
    name: 'a POST fails over from an origin where nobody listens',
    input: { method: 'POST', body: 'pay' },
    failover: true,
    outcome: '200 fine',
    attempts: ['connection_refused', 200],
    reason: 'success',
    seen: ['POST pay'],
  },
  {
    name: 'a reset is not repeated where the policy does not name it',
    script: { requests: [{ do: 'reset' }, fine] },
    outcome: 'connection_terminated',
    attempts: ['connection_terminated'],
    reason: 'not-retryable',
    seen: ['GET '],
  },
  {
    name: 'a reset is repeated where the policy names it',
    script: { requests: [{ do: 'reset' }, fine] },
    options: { retry: { on: ['reset'], backoffMs: 0, maxBackoffMs: 0 } },
    outcome: '200 fine',
    attempts: ['connection_terminated', 200],
    reason: 'success',
    seen: ['GET ', 'GET '],
  },
];

async function perform(t: TestContext, row: Row, caller: (typeof CALLERS)[string]): Promise<void> {
  const origin = await startOrigin(row.script ?? { requests: [fine] }, { t });
  const stranger = `http://${(await refusedAddress({ t })).address}`;
  const scripted = `http://${origin.address}`;
  const own = row.failover === true ? stranger : scripted;
  const ends: RequestEnd[] = [];
  const dispatcher = createDispatcher({
    ...row.options,
    ...(row.failover === true ? { endpoints: [stranger, scripted] } : {}),
    onRequestEnd: (end) => ends.push(end),
  });
  t.after(() => dispatcher.close());
  let outcome: string;
  let report: RequestReport | undefined;
  try {
    const answer = await caller(`${own}/path`, row.input ?? {}, dispatcher);
    outcome = `${answer.status} ${answer.text}`;
    report = attemptsOf(answer.response);
  } catch (error) {
    const failure = isRequestFailedError(error) ? error : (error as Error).cause;
    assert.ok(isRequestFailedError(failure), String(error));
    outcome = failure.kind;
  }
  const [end] = ends;
  assert.equal(ends.length, 1);
  assert.equal(outcome, row.outcome);
  assert.deepEqual(
    end?.report.attempts.map((attempt) => attempt.status ?? attempt.failure),
    row.attempts,
  );
  assert.equal(end?.report.reason, row.reason);
  assert.equal(end?.uri, `${own}/path`);
  if (report !== undefined) assert.deepEqual(report.attempts, end?.report.attempts);
  assert.deepEqual(
    origin.journal.requests.map((seen) => `${seen.method} ${seen.body.toString()}`),
    row.seen,
  );
}

for (const [name, caller] of Object.entries(CALLERS)) {
  describe(`through ${name}`, () => {
    for (const row of ROWS) test(row.name, (t) => perform(t, row, caller));
  });
}

test('the report of a response is found for undici.request, undici.stream and fetch', async (t) => {
  const origin = await startOrigin({ requests: [busy, fine] }, { t });
  for (const name of ['undici.request', 'undici.stream', 'fetch']) {
    const dispatcher = createDispatcher(CODES);
    const { response } = await CALLERS[name]!(`http://${origin.address}/`, {}, dispatcher);
    assert.ok(attemptsOf(response), name);
    await dispatcher.close();
  }
});
