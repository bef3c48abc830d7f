import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestEnd } from '../../src/proxy/listener/half-close.ts';

test('a FIN that is read with the end of a request belongs to it, in a process that does not sleep', () => {
  const end = new RequestEnd();
  end.reached(1_000);
  assert.equal(end.isHalfClose(1_000), true);
  assert.equal(end.isHalfClose(1_100), true);
});

test('a FIN of a tenth of a second later is a client that left, in a process that never sleeps, too', () => {
  const end = new RequestEnd();
  end.reached(1_000);
  assert.equal(end.isHalfClose(1_101), false);
});

test('the next request starts anew', () => {
  const end = new RequestEnd();
  end.reached(1_000);
  end.reached(5_000);
  assert.equal(end.isHalfClose(5_001), true);
});
