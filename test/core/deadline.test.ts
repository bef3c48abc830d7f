import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptTimeoutMs, clampDelayMs, deadlineAt, MAX_DELAY_MS, remainingMs } from '../../src/core/deadline.ts';

test('what is left is never negative and never NaN', () => {
  assert.equal(remainingMs(100, 40), 60);
  assert.equal(remainingMs(100, 100), 0);
  assert.equal(remainingMs(100, 101), 0);
  assert.equal(remainingMs(Infinity, 40), Infinity);
  assert.equal(remainingMs(Infinity, Infinity), 0);
  assert.equal(remainingMs(NaN, 40), 0);
  assert.equal(remainingMs(100, NaN), 0);
});

test('a timeout of 0 is no deadline', () => {
  assert.equal(deadlineAt(500, 40), 540);
  assert.equal(deadlineAt(0, 40), Infinity);
  assert.equal(deadlineAt(-1, 40), Infinity);
  assert.equal(deadlineAt(Infinity, 40), Infinity);
});

test('an attempt gets its own timeout or the rest of the request, whichever is less', () => {
  assert.equal(attemptTimeoutMs(50, 100, 0), 50);
  assert.equal(attemptTimeoutMs(50, 100, 70), 30);
  assert.equal(attemptTimeoutMs(0, 100, 70), 30);
  assert.equal(attemptTimeoutMs(50, Infinity, 70), 50);
  assert.equal(attemptTimeoutMs(0, Infinity, 70), Infinity);
  assert.equal(attemptTimeoutMs(50, 60, 70), 0);
  assert.equal(attemptTimeoutMs(NaN, 100, 70), 30);
});

test('a delay is made to fit a timer', () => {
  assert.equal(MAX_DELAY_MS, 2 ** 31 - 1);
  assert.equal(clampDelayMs(5.5), 5.5);
  assert.equal(clampDelayMs(0), 0);
  assert.equal(clampDelayMs(-1), 0);
  assert.equal(clampDelayMs(NaN), 0);
  assert.equal(clampDelayMs(2 ** 31), 2 ** 31 - 1);
  assert.equal(clampDelayMs(Infinity), 2 ** 31 - 1);
});
