import assert from 'node:assert/strict';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { RequestMeter } from '../../src/telemetry/request-meter.ts';
import type { Played } from './play-case.ts';
import type { Cell, Expected } from './scenario.ts';

/** What of an attempt is looked at: how it failed and what that means for another one, or what it was answered. */
export function attemptWord({ failure, class: safety, status, superseded }: AccessRecord['attempts'][number]): string {
  if (superseded === true) return 'superseded';
  if (failure === undefined) return String(status ?? '–');
  return status === undefined ? `${failure}/${safety ?? '–'}` : `${String(status)} then ${failure}`;
}

/** Holds a case to what its scenario expects, and to what holds for every case. */
export function checkCase(played: Played, expected: Expected, cell: Cell): void {
  const { heard, seen, record } = played;
  const story = `\n${played.diagnostics.join('\n')}\n${JSON.stringify(record)}`;
  checkAnswer(played, expected, story);
  if (expected.sends === 'none whole') assert.ok(!seen.flat().some((one) => one.complete), `a whole request${story}`);
  else {
    const counts = seen.map((requests) => requests.length);
    assert.deepEqual(counts, expected.sends, `requests that the origins saw${story}`);
  }
  if (record !== undefined) {
    checkRecord(record, expected, story);
    checkAlways(played, record, cell);
    // A head that was written in the turn in which its connection ended may never have left.
    if (expected.sends !== 'none whole') checkMetrics(played, record);
  }
  if (expected.closedAtOrigin === true)
    assert.ok(
      seen.flat().every((one) => one.isLeft),
      `each origin sees that the gateway left${story}`,
    );
  assert.deepEqual(played.left, [], `left behind${story}`);
  assert.equal(heard.fault, undefined);
}

function checkAnswer({ heard }: Played, expected: Expected, story: string): void {
  const ending = heard.ending ?? (heard.status === 0 ? 'none' : 'cut');
  if (expected.ending === 'cut-or-own') {
    const isVisible = heard.status === 200 ? ending === 'cut' : heard.status === 502 && ending === 'whole';
    assert.ok(isVisible, `status ${String(heard.status)}, ${ending}${story}`);
  } else {
    const wanted = expected.ending ?? (expected.status === 0 ? 'none' : 'whole');
    assert.deepEqual([heard.status, ending], [expected.status, wanted], `the client's answer${story}`);
  }
  if (expected.text !== undefined) assert.equal(heard.text, expected.text);
  if (expected.interim !== undefined) assert.deepEqual(heard.interim, expected.interim);
  for (const [name, value] of Object.entries(expected.fields ?? {}))
    assert.deepEqual(heard.values(name), value === undefined ? [] : [value], name);
  for (const [name, values] of Object.entries(expected.lists ?? {})) assert.deepEqual(heard.values(name), values, name);
  if (expected.trailers !== undefined)
    assert.deepEqual(
      heard.trailers.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text)),
      expected.trailers,
    );
  assert.deepEqual(heard.values('error-claim'), [], 'a client that nobody trusts is told no claim');
}

function checkRecord(record: AccessRecord, expected: Expected, story: string): void {
  const { reason, flags, attempts, truncated, replayLost, tookMs } = expected;
  const status = expected.recorded ?? expected.status;
  if (status !== 'any') assert.equal(record.status, status, `the record's status${story}`);
  if (reason !== undefined) assert.equal(record.reason, reason ?? undefined, `the reason${story}`);
  if (flags !== undefined) assert.deepEqual(record.flags, flags, `the flags${story}`);
  if (attempts !== undefined)
    assert.deepEqual(record.attempts.map(attemptWord), attempts.map(String), `the attempts${story}`);
  if (truncated !== undefined) assert.equal(record.truncated, truncated);
  if (replayLost !== undefined) assert.equal(record.replayLost, replayLost);
  if (tookMs !== undefined) {
    const [least, most] = tookMs;
    assert.ok(
      record.durationMs >= least && record.durationMs <= most,
      `it took ${String(record.durationMs)} ms${story}`,
    );
  }
}

/** The promises that no case may break, whatever it is about. */
function checkAlways({ seen, heard }: Played, record: AccessRecord, cell: Cell): void {
  const all = seen.flat();
  const { attempts } = record;
  if (!cell.repeatable) {
    const doubtful = attempts.filter((one) => one.class !== 'unsent' && one.class !== 'rejected');
    assert.ok(doubtful.length <= 1, `a POST was tried again after ${doubtful.map(attemptWord).join(', ')}`);
  }
  const sent = attempts.filter((one) => one.class !== 'unsent');
  assert.ok(
    all.length <= sent.length,
    `the origins saw ${String(all.length)} requests, the record has ${String(sent.length)}`,
  );
  const numbers = all.map(({ attempt }) => /\bn=(\d+)/.exec(attempt ?? 'n=1')?.[1]);
  assert.equal(new Set(numbers).size, all.length, `each send has a number of its own: ${numbers.join(', ')}`);
  const whole = all.filter(({ complete, bodySha256 }) => complete && bodySha256 !== '');
  assert.ok(new Set(whole.map(({ bodySha256 }) => bodySha256)).size <= 1, 'each send has the same body');
  if (cell.asked === 'keyed POST') for (const { key } of whole) assert.equal(key, '"k1"');
  assert.deepEqual(
    all.filter(({ fault }) => fault !== undefined),
    [],
    'what was sent is HTTP',
  );
  assert.equal(record.retryAttempts, Math.max(0, attempts.length - 1));
  if (record.attempts.length > 0) assert.notEqual(record.reason, undefined, 'a stop has a reason');
  if (heard.status >= 500 && attempts.at(-1)?.status === undefined && record.status !== 499)
    assert.ok(record.error !== undefined, 'an error of ours says why');
}

/** What operators see in numbers is what the origins saw. */
function checkMetrics({ seen, records }: Played, record: AccessRecord): void {
  const meter = new RequestMeter();
  for (const one of records) meter.record(one, 0);
  const [upstream] = [...meter.upstreams()];
  const warmCount = records.length - 1;
  assert.equal(
    upstream?.sendCount ?? 0,
    seen.flat().length + warmCount,
    `the metrics’ sends ${JSON.stringify(record)}`,
  );
  const retries = [...meter.routes()].map((route) => route.chargedRetryCount + route.freeRetryCount + route.hedgeCount);
  assert.equal(
    retries.reduce((sum, count) => sum + count, 0),
    record.retryAttempts,
  );
}
