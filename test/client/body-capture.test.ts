import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureBody } from '../../src/client/call/body-capture.ts';
import { createReplayMemory } from '../../src/transport/body/replay-memory.ts';

const text = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  let all = '';
  for await (const chunk of body) all += Buffer.from(chunk).toString();
  return all;
};

test('a body within the cap is read again from its first byte, also after an attempt that stopped halfway', async () => {
  const memory = createReplayMemory(100);
  const capture = captureBody(['abc', 'def'], 6, memory);
  const first = capture.open();
  assert.equal(Buffer.from((await first.next()).value).toString(), 'abc');
  assert.equal(await text(capture.open()), 'abcdef');
  assert.equal(await text(capture.open()), 'abcdef');
  assert.deepEqual([capture.replayable, memory.usedBytes], [true, 6]);
  capture.release(false);
  assert.equal(memory.usedBytes, 0);
});

test('an attempt that was given up gets an error and never an end', async () => {
  const capture = captureBody(['abc', 'def'], 6, createReplayMemory(100));
  const stale = capture.open();
  await stale.next();
  capture.open();
  await assert.rejects(stale.next(), /given up/);
});

test('over the cap the one who reads gets everything, and nobody else does', async () => {
  const memory = createReplayMemory(100);
  const capture = captureBody(['abc', 'def', 'ghi'], 5, memory);
  assert.equal(await text(capture.open()), 'abcdefghi');
  assert.deepEqual([capture.replayable, memory.usedBytes], [false, 0]);
  assert.throws(() => capture.open(), /cannot be sent again/);
});

test('the memory of all bodies bounds each of them', async () => {
  const memory = createReplayMemory(4);
  const capture = captureBody(['abc', 'def'], 100, memory);
  assert.equal(await text(capture.open()), 'abcdef');
  assert.equal(capture.replayable, false);
});

test('a buffer that its source fills again does not change what is kept', async () => {
  const shared = new Uint8Array(1);
  const source = function* (): Generator<Uint8Array> {
    for (const letter of 'abc') {
      shared[0] = letter.charCodeAt(0);
      yield shared;
    }
  };
  const capture = captureBody(source(), 10, createReplayMemory(100));
  await text(capture.open());
  assert.equal(await text(capture.open()), 'abc');
});

test('a body whose answer came early goes on to its end without being kept', async () => {
  const capture = captureBody(['abc', 'def', 'ghi'], 100, createReplayMemory(100));
  const reader = capture.open();
  await reader.next();
  capture.release(false);
  assert.equal(await text(reader), 'defghi');
  assert.equal(capture.replayable, false);
});

test('a source that breaks fails every reader with its own error', async () => {
  const source = async function* (): AsyncGenerator<string> {
    yield 'abc';
    throw new Error('the disk is gone');
  };
  const capture = captureBody(source(), 100, createReplayMemory(100));
  await assert.rejects(text(capture.open()), /the disk is gone/);
  assert.equal(capture.failed, true);
  await assert.rejects(text(capture.open()), /the disk is gone/);
});

test('reading ahead gives all bytes of a short body, and loses nothing of a long one', async () => {
  const memory = createReplayMemory(100);
  assert.equal(Buffer.from((await captureBody(['abc', 'def'], 6, memory).readAhead())!).toString(), 'abcdef');
  const long = captureBody(['abc', 'def'], 5, memory);
  assert.equal(await long.readAhead(), undefined);
  assert.equal(await text(long.open()), 'abcdef');
});

test('a source that nobody will read is closed', async () => {
  let isClosed = false;
  const source = function* (): Generator<string> {
    try {
      yield 'abc';
      yield 'def';
    } finally {
      isClosed = true;
    }
  };
  const capture = captureBody(source(), 100, createReplayMemory(100));
  await capture.open().next();
  capture.release(true);
  assert.equal(isClosed, true);
});
