import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  outboundTracker,
  setOutboundTracker,
  weakerMode,
  type OutboundTracker,
} from '../../src/engine/outbound-tracking.ts';

const tracker = (): OutboundTracker => ({
  begin: () => {
    throw new Error('not called here');
  },
});

test('a tracker is found by whoever asks until it is taken back', () => {
  assert.equal(outboundTracker(), undefined);
  const mine = tracker();
  const takeBack = setOutboundTracker(mine);
  assert.equal(outboundTracker(), mine);
  takeBack();
  assert.equal(outboundTracker(), undefined);
});

test('taking one back leaves a later one in its place', () => {
  const takeBack = setOutboundTracker(tracker());
  const later = tracker();
  const takeLaterBack = setOutboundTracker(later);
  takeBack();
  assert.equal(outboundTracker(), later);
  takeLaterBack();
});

test('of two modes the one that changes less holds', () => {
  assert.equal(weakerMode('enforce', 'observe'), 'observe');
  assert.equal(weakerMode('off', 'enforce'), 'off');
  assert.equal(weakerMode('enforce', 'enforce'), 'enforce');
});
