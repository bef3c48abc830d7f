import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import type { AttemptRequest } from '../../src/transport/transport.ts';
import { startRun } from './run-fixture.ts';

const REQUEST: AttemptRequest = {
  method: 'GET',
  target: '/',
  fields: ['Host', 'a'],
  body: undefined,
  expectContinueMs: 0,
};

/** Lets every settled promise run its reactions. */
async function settle(): Promise<void> {
  const events = new EventEmitter();
  setImmediate(() => events.emit('turn'));
  await once(events, 'turn');
}

describe("a host's word on a decision", () => {
  test('stop ends what the core would have tried again, and gives the budget back', () => {
    const fixture = startRun({ host: { reviewFailure: () => ({ type: 'stop' }) } });
    fixture.last.refuse();
    assert.deepEqual(fixture.told, ['failed:connection_refused:not-retryable']);
    assert.equal(fixture.sends.length, 1);
  });

  test('retry covers a failure that the policy does not name', () => {
    const fixture = startRun({
      policy: { on: ['stale'], maxRetries: 2 },
      host: { reviewFailure: () => ({ type: 'retry', delayMs: 0 }) },
    });
    fixture.last.refuse();
    assert.equal(fixture.sends.length, 2);
  });

  test('retry never doubles a POST that may have been processed', () => {
    const fixture = startRun({ method: 'POST', host: { reviewFailure: () => ({ type: 'retry', delayMs: 0 }) } });
    fixture.last.reset();
    assert.equal(fixture.sends.length, 1);
    assert.equal(fixture.run.reason, 'not-idempotent');
  });

  test('retry never goes beyond maxRetries', () => {
    const fixture = startRun({
      policy: { on: ['stale'], maxRetries: 3 },
      host: { reviewFailure: () => ({ type: 'retry', delayMs: 0 }) },
    });
    for (let i = 0; i < 10 && fixture.run.reason === undefined; i += 1) fixture.last.refuse();
    assert.equal(fixture.sends.length, 4);
    assert.equal(fixture.run.reason, 'attempts-exhausted');
  });

  test('a wait of the host that would pass the deadline ends the request', () => {
    const fixture = startRun({
      deadlineMs: 100,
      host: { reviewFailure: () => ({ type: 'retry', delayMs: 100 }) },
    });
    fixture.last.refuse();
    assert.deepEqual(fixture.told, ['failed:connection_refused:deadline']);
  });
});

describe('answers that come later', () => {
  test('select, build and review may be promises', async () => {
    const fixture = startRun({
      host: {
        buildRequest: () => Promise.resolve(REQUEST),
        reviewFailure: () => Promise.resolve(undefined),
      },
    });
    await settle();
    fixture.last.refuse();
    await settle();
    await settle();
    assert.equal(fixture.sends.length, 2);
  });

  test('the body waits for a response filter and keeps its order', async () => {
    let release = (): void => {};
    const fixture = startRun({
      host: {
        onResponse: () =>
          new Promise<void>((resolve) => {
            release = () => {
              fixture.told.push('head');
              resolve();
            };
          }),
      },
    });
    fixture.last.handler.onHead({
      versionMinor: 1,
      status: 200,
      reason: '',
      fields: [],
      bodyKind: 'length',
      contentLength: 2,
      keepAlive: true,
      keepAliveTimeoutMs: -1,
    });
    assert.equal(fixture.last.handler.onData(Buffer.from('a')), false);
    fixture.last.handler.onData(Buffer.from('b'));
    fixture.last.handler.onComplete([]);
    assert.deepEqual(fixture.told, []);
    release();
    await settle();
    assert.deepEqual(fixture.told, ['head', 'data:a', 'data:b', 'complete']);
  });

  test('a client that leaves while the host thinks gets no attempt', async () => {
    let answer = (): void => {};
    const fixture = startRun({
      host: {
        buildRequest: () =>
          new Promise((resolve) => {
            answer = () => resolve(REQUEST);
          }),
      },
    });
    fixture.run.cancel();
    answer();
    await settle();
    assert.equal(fixture.sends.length, 0);
    assert.equal(fixture.upstream.permits.inflight, 0);
  });
});

describe('a hook that throws', () => {
  test('in select ends the request with its error', () => {
    const boom = new Error('boom');
    const fixture = startRun({
      host: {
        select: () => {
          throw boom;
        },
      },
    });
    assert.deepEqual(fixture.errors, [boom]);
    assert.equal(fixture.sends.length, 0);
  });

  test('in review ends the request, aborts nothing twice and tells once', () => {
    const fixture = startRun({
      host: {
        reviewFailure: () => {
          throw new Error('boom');
        },
      },
    });
    fixture.last.refuse();
    assert.deepEqual(fixture.told, ['error']);
    assert.equal(fixture.upstream.permits.inflight, 0);
  });

  test('in the response filter aborts the attempt', () => {
    const fixture = startRun({
      host: {
        onResponse: () => {
          throw new Error('boom');
        },
      },
    });
    fixture.last.respond(200, [], 'body', false);
    assert.deepEqual(fixture.told, ['error']);
    assert.equal(fixture.last.aborted, true);
  });

  test('asynchronously in build releases the permit', async () => {
    const fixture = startRun({ host: { buildRequest: () => Promise.reject(new Error('boom')) } });
    await settle();
    assert.deepEqual(fixture.told, ['error']);
    assert.equal(fixture.upstream.permits.inflight, 0);
  });
});
