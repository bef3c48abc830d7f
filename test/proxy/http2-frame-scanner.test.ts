import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Http2FloodGuard } from '../../src/proxy/listener/http2-flood-guard.ts';
import { Http2FrameScanner } from '../../src/proxy/listener/http2-frame-scanner.ts';
import { endHeaders, endStream, frame, frameTypes } from '../support/http2-frames.ts';

type Seen = readonly [type: number, flags: number, lengthBytes: number, errorCode: number];

const frames = fc.array(
  fc.record({
    type: fc.integer({ min: 0, max: 255 }),
    flags: fc.integer({ min: 0, max: 255 }),
    payload: fc.uint8Array({ maxLength: 20 }),
  }),
  { maxLength: 20 },
);

test('frames are found however their bytes are cut', () => {
  fc.assert(
    fc.property(frames, fc.nat(30), fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1 }), (all, skip, cuts) => {
      const bytes = Buffer.concat([
        Buffer.alloc(skip),
        ...all.map(({ type, flags, payload }) => frame(type, flags, 1, payload)),
      ]);
      const seen: Seen[] = [];
      const scanner = new Http2FrameScanner({ frame: (...one) => seen.push(one) > 0 }, skip);
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = cuts[turn % cuts.length]!;
        assert.equal(scanner.scan(bytes.subarray(at, at + size)), true);
        at += size;
      }
      const expected = all.map(({ type, flags, payload }): Seen => {
        const isReset = type === frameTypes.resetStream && payload.length === 4;
        return [type, flags, payload.length, isReset ? Buffer.from(payload).readUInt32BE(0) : 0];
      });
      assert.deepEqual(seen, expected);
      assert.equal(scanner.openType, -1);
    }),
  );
});

test('a frame whose payload is not complete is open', () => {
  const scanner = new Http2FrameScanner({ frame: () => true }, 0);
  const head = frame(frameTypes.headers, 0, 1, Buffer.alloc(5));
  scanner.scan(head.subarray(0, 12));
  assert.equal(scanner.openType, frameTypes.headers);
  scanner.scan(head.subarray(12));
  assert.equal(scanner.openType, -1);
});

test('a handler that has had enough sees no further frame', () => {
  let count = 0;
  const handler = {
    frame() {
      count += 1;
      return count < 2;
    },
  };
  const scanner = new Http2FrameScanner(handler, 0);
  const ping = frame(frameTypes.ping, 0, 0, Buffer.alloc(8));
  assert.equal(scanner.scan(Buffer.concat([ping, ping, ping])), false);
  assert.equal(count, 2);
});

/** How many frames of one kind pass, `everyMs` apart. */
function passing(tell: (guard: Http2FloodGuard) => boolean, everyMs: number, most: number): number {
  const guard = new Http2FloodGuard(1024);
  for (let count = 0; count < most; count += 1) {
    guard.nowMs = count * everyMs;
    if (!tell(guard)) return count;
  }
  return most;
}

test('allowances end under a flood, and come back with time', () => {
  const ping = (guard: Http2FloodGuard): boolean => guard.received(frameTypes.ping, 0, 8);
  assert.equal(passing(ping, 0, 10_000), 500);
  assert.equal(passing(ping, 20, 10_000), 10_000);
});

test('a reset is paid by a stream that was answered', () => {
  const mixed = (guard: Http2FloodGuard): boolean =>
    guard.sent(frameTypes.data, endStream, 0) && guard.received(frameTypes.resetStream, 0, 4);
  assert.equal(passing(mixed, 0, 10_000), 10_000);
  assert.equal(
    passing((guard) => guard.received(frameTypes.resetStream, 0, 4), 0, 10_000),
    100,
  );
});

test('resets that are our own decision cost the client nothing', () => {
  for (const code of [0, 2, 8])
    assert.equal(
      passing((guard) => guard.sent(frameTypes.resetStream, 0, code), 0, 10_000),
      10_000,
    );
});

test('a head of too many bytes in too many frames names its flood', () => {
  const guard = new Http2FloodGuard(100);
  assert.equal(guard.received(frameTypes.headers, 0, 60), true);
  assert.equal(guard.blockOpen, true);
  assert.equal(guard.received(frameTypes.continuation, endHeaders, 60), false);
  assert.equal(guard.flood, 'continuation-flood');
});
