import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPeerAdvice, type PeerAdvice } from '../../src/engine/retry-advice.ts';

const NOTHING: PeerAdvice = { never: false, nack: false, why: undefined };

for (const [name, fields, expected] of [
  ['no advice', ['Server', 'x'], {}],
  ['an overloaded Envoy', ['X-Envoy-Overloaded', 'true'], { never: true, why: 'overload' }],
  ['an Envoy that is not overloaded', ['x-envoy-overloaded', 'false'], {}],
  ['a rate limit of Envoy', ['x-envoy-ratelimited', 'true'], { never: true, why: 'quota' }],
  ['both', ['x-envoy-overloaded', 'true', 'x-envoy-ratelimited', 'true'], { never: true, why: 'quota' }],
  ['an interface that forbids it', ['x-should-retry', 'false'], { never: true }],
  ['an interface that asks for it', ['x-should-retry', 'true'], {}],
  ['a nack of Finagle', ['finagle-http-nack', ''], { nack: true, why: 'overload' }],
  ['a final nack of Finagle', ['finagle-http-nonretryable-nack', ''], { never: true, why: 'overload' }],
  ['a nack beside a no', ['finagle-http-nack', 'true', 'x-should-retry', 'false'], { never: true, why: 'overload' }],
] as const) {
  test(`${name} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(readPeerAdvice([...fields]), { ...NOTHING, ...expected });
  });
}
