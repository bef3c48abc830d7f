import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { OutboundEnding } from '../../src/core/ownership/outbound.ts';
import type { OwnershipMode } from '../../src/core/retry-policy.ts';
import { readErrorClaim } from '../../src/engine/error-claim.ts';
import type { AttemptNote, OutboundStart } from '../../src/engine/outbound-tracking.ts';
import { setOutboundTracker } from '../../src/engine/outbound-tracking.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { fetch } from '../../src/client/fetch.ts';
import type { FetchOptions } from '../../src/client/fetch.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { Behaviour } from '../support/origin-script.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

interface Told {
  start?: OutboundStart;
  readonly notes: AttemptNote[];
  readonly endings: OutboundEnding[];
  readonly restated: OutboundEnding[];
  readonly causes: unknown[];
}

let takeBack: (() => void) | undefined;
afterEach(() => takeBack?.());

/** A service that serves a request in whose course everything below is called. */
function serve(
  inbound: { readonly lineage?: number; readonly leftMs?: number; readonly mode?: OwnershipMode } = {},
): Told {
  const told: Told = { notes: [], endings: [], restated: [], causes: [] };
  takeBack = setOutboundTracker({
    begin(start) {
      told.start = start;
      return {
        lineage: inbound.lineage ?? 0,
        deadlineAtMs: performance.now() + (inbound.leftMs ?? Infinity),
        marginMs: 10,
        mode: inbound.mode ?? 'enforce',
        readClaim: (fields) => readErrorClaim(fields).claim,
        attempt: (send) => send(),
        note: (note) => told.notes.push(note),
        end: (ending) => told.endings.push(ending),
        restate: (ending) => told.restated.push(ending),
        caused: (error) => told.causes.push(error),
      };
    },
  });
  return told;
}

const failed = (claim: string): Behaviour => ({ do: 'respond', status: 503, headers: { 'Error-Claim': claim } });
const FINE: Behaviour = { do: 'respond' };

async function call(
  t: TestContext,
  requests: Behaviour | readonly Behaviour[],
  options: FetchOptions = {},
): Promise<{ readonly origin: ScriptedOrigin; readonly outcome: unknown }> {
  const origin = await startOrigin({ requests }, { t });
  const dispatcher = createDispatcher({ retry: { codes: [503], maxRetries: 2, backoffMs: 0, maxBackoffMs: 0 } });
  t.after(() => dispatcher.close());
  try {
    const response = await fetch(`http://${origin.address}/charge`, { ...options, dispatcher });
    await response.bytes();
    return { origin, outcome: response.status };
  } catch (error) {
    return { origin, outcome: error };
  }
}

test('an error that the callee relayed is not retried inside a service', async (t) => {
  const told = serve();
  const { origin, outcome } = await call(t, failed('relayed'));
  assert.deepEqual([outcome, origin.requestCount()], [503, 1]);
  assert.deepEqual(
    told.notes.map(({ claim, retried, stopped }) => [claim?.claim, retried, stopped]),
    [['relayed', false, 'not-owner']],
  );
  const [ending, ...more] = told.endings;
  assert.deepEqual(more, []);
  assert.deepEqual([ending?.outcomeClass, ending?.handled, ending?.claim?.claim], ['server', true, 'relayed']);
  assert.deepEqual([told.start?.method, told.start?.url], ['GET', `http://${origin.address}/charge`]);
});

test('one that it owns is retried, and each attempt is told', async (t) => {
  const told = serve();
  const { origin, outcome } = await call(t, [failed('owned'), FINE]);
  assert.deepEqual([outcome, origin.requestCount()], [200, 2]);
  assert.deepEqual(
    told.notes.map(({ claim, retried, stopped }) => [claim?.claim, retried, stopped]),
    [
      ['owned', true, undefined],
      [undefined, false, 'success'],
    ],
  );
  assert.deepEqual(
    told.endings.map(({ outcomeClass, handled }) => [outcomeClass, handled]),
    [['ok', false]],
  );
});

test('observed and not enforced, a claim changes nothing', async (t) => {
  serve({ mode: 'observe' });
  const { origin } = await call(t, failed('relayed'));
  assert.equal(origin.requestCount(), 3);
});

test('an advice never to retry is obeyed', async (t) => {
  serve();
  const { origin } = await call(t, failed('owned;retry=never'));
  assert.equal(origin.requestCount(), 1);
});

test('a request of a service that is itself retried is not retried, and hands its history on', async (t) => {
  const told = serve({ lineage: 1 });
  const { origin } = await call(t, failed('owned'));
  assert.equal(origin.requestCount(), 1);
  assert.equal(told.notes[0]?.stopped, 'retry-of-retry');
  assert.equal(origin.request().value('request-attempt'), 'n=1, lineage=1');
});

test('the callee is told how long is waited for it, less the margin, and the deadline of the service holds', async (t) => {
  const told = serve({ leftMs: 200 });
  const { origin, outcome } = await call(t, { do: 'hang' });
  const toldMs = Number(origin.request().value('request-timeout'));
  assert.ok(toldMs > 0 && toldMs <= 190, String(toldMs));
  assert.match(String(outcome), /deadline_exceeded/);
  assert.deepEqual(
    told.endings.map(({ outcomeClass, handled }) => [outcomeClass, handled]),
    [['timeout', true]],
  );
  assert.deepEqual(told.causes, [outcome]);
});

test('a failure of a POST that may have been processed is told as such', async (t) => {
  const told = serve();
  await call(t, { do: 'reset' }, { method: 'POST' });
  assert.deepEqual(
    told.endings.map(({ outcomeClass, handled, effect }) => [outcomeClass, handled, effect]),
    [['ambiguous', false, 'maybe']],
  );
});

test('a request that its sender gives up is nobody’s failure', async (t) => {
  const told = serve();
  const aborter = new AbortController();
  const origin = await startOrigin({ do: 'hang' }, { t });
  const dispatcher = createDispatcher();
  t.after(() => dispatcher.close());
  const calling = fetch(`http://${origin.address}/`, { dispatcher, signal: aborter.signal });
  await origin.waitForRequest();
  aborter.abort();
  await assert.rejects(calling, { name: 'AbortError' });
  assert.deepEqual(
    told.endings.map(({ outcomeClass }) => outcomeClass),
    ['cancelled'],
  );
});

const cut = (status: number): Behaviour => ({
  do: 'respond',
  status,
  body: 'long',
  cut: { bodyBytes: 1 },
  then: 'destroy',
});

test('a good answer that breaks off is told to be no success, and its error names the call', async (t) => {
  const told = serve();
  const { outcome } = await call(t, cut(200));
  assert.deepEqual(
    told.restated.map(({ outcomeClass, handled, effect }) => [outcomeClass, handled, effect]),
    [['committed', false, undefined]],
  );
  assert.ok(told.causes.includes((outcome as Error).cause), String(outcome));
});

test('what broke off after a POST may have been done', async (t) => {
  const told = serve();
  await call(t, cut(200), { method: 'POST' });
  assert.deepEqual(
    told.restated.map(({ outcomeClass, effect }) => [outcomeClass, effect]),
    [['committed', 'maybe']],
  );
});

test('an error whose body breaks off stays the error that it is', async (t) => {
  const told = serve();
  await call(t, cut(500));
  assert.deepEqual([told.endings.map(({ outcomeClass }) => outcomeClass), told.restated], [['server'], []]);
});

test('an answer of an earlier attempt that is delivered in the end is told with what it claims', async (t) => {
  const told = serve();
  const { origin, outcome } = await call(t, [failed('owned;why=overload'), { do: 'reset' }, { do: 'reset' }]);
  assert.deepEqual([outcome, origin.requestCount()], [503, 3]);
  assert.deepEqual(
    told.endings.map(({ outcomeClass, handled, claim }) => [outcomeClass, handled, claim?.why]),
    [['server', true, 'overload']],
  );
  assert.deepEqual(
    told.notes.map(({ claim, retried, stopped }) => [claim?.why, retried, stopped]),
    [
      ['overload', true, undefined],
      [undefined, true, undefined],
      [undefined, false, 'not-retryable'],
    ],
  );
});

test('outside of a service nothing of this is sent, and the advice of a server is obeyed', async (t) => {
  const { origin } = await call(t, { do: 'respond', status: 503, headers: { 'X-Should-Retry': 'false' } });
  assert.equal(origin.requestCount(), 1);
  assert.equal(origin.request().value('request-timeout'), undefined);
});
