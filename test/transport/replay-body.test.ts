import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Failure } from '../../src/core/failure.ts';
import { createReplayBody } from '../../src/transport/body/replay-body.ts';
import type { NotReplayableReason } from '../../src/transport/body/replay-body.ts';
import { createReplayMemory } from '../../src/transport/body/replay-memory.ts';
import type { ReplayMemory } from '../../src/transport/body/replay-memory.ts';
import type {
  BodyCursor,
  BodyReader,
  BodySink,
  BodySource,
  RequestBody,
} from '../../src/transport/body/request-body.ts';

/** A client: pushes what the test says, and notes whether it was asked to stop. */
class Uploader implements BodySource {
  sink: BodySink | undefined;
  paused = false;
  start(sink: BodySink): void {
    this.sink = sink;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  push(bytes: string | Buffer): void {
    this.sink?.chunk(Buffer.from(bytes as string));
  }
}

/** An attempt: notes what it reads; `pauseAfter` chunks it wants no more. */
class Reading implements BodyReader {
  chunks: Buffer[] = [];
  trailers: readonly string[] | undefined;
  failure: Failure | undefined;
  pauseAfter = Infinity;
  cursor: BodyCursor | undefined;
  onChunk(chunk: Buffer): boolean {
    this.chunks.push(Buffer.from(chunk));
    return this.chunks.length < this.pauseAfter;
  }
  onEnd(trailers: string[]): void {
    this.trailers = trailers;
  }
  onError(failure: Failure): void {
    this.failure = failure;
  }
  get text(): string {
    return Buffer.concat(this.chunks).toString('latin1');
  }
}

/** Reads what is there now. */
function openAndRead(body: RequestBody): Reading {
  const reading = new Reading();
  reading.cursor = body.open(reading);
  return reading;
}

interface Setup {
  readonly body: RequestBody;
  readonly uploader: Uploader;
  readonly memory: ReplayMemory;
  readonly reasons: NotReplayableReason[];
}

function setup(options: { capBytes?: number; contentLength?: number | undefined; memoryBytes?: number } = {}): Setup {
  const uploader = new Uploader();
  const memory = createReplayMemory(options.memoryBytes ?? Infinity);
  const reasons: NotReplayableReason[] = [];
  const body = createReplayBody({
    source: uploader,
    contentLength: options.contentLength,
    capBytes: options.capBytes ?? 65_536,
    memory,
    onNotReplayable: (reason) => reasons.push(reason),
  });
  return { body, uploader, memory, reasons };
}

function open(body: RequestBody, pauseAfter = Infinity): Reading {
  const reading = new Reading();
  reading.pauseAfter = pauseAfter;
  reading.cursor = body.open(reading);
  return reading;
}

const clientLeft: Failure = {
  kind: 'downstream_closed',
  source: 'downstream',
  phase: 'body',
  reused: false,
  bytesSent: 0,
  bytesReceived: 3,
};

test('nothing is read from the source before the first attempt opens the body', () => {
  const { body, uploader } = setup();
  assert.equal(uploader.sink, undefined);
  open(body);
  assert.notEqual(uploader.sink, undefined);
});

test('a second attempt reads the same bytes and trailers as the first', () => {
  const { body, uploader } = setup();
  const first = open(body);
  uploader.push('hel');
  uploader.push('lo');
  uploader.sink?.end(['X-Sum', '5']);
  const second = open(body);
  assert.deepEqual([first.text, first.trailers], ['hello', ['X-Sum', '5']]);
  assert.deepEqual([second.text, second.trailers], ['hello', ['X-Sum', '5']]);
  assert.equal(body.complete, true);
  assert.equal(body.bytesReceived, 5);
});

test('an attempt that takes over in the middle reads from the first byte and then what still arrives', () => {
  const { body, uploader } = setup();
  const first = open(body);
  uploader.push('hel');
  first.cursor?.close();
  const second = open(body);
  uploader.push('lo');
  uploader.sink?.end([]);
  assert.equal(first.text, 'hel');
  assert.equal(second.text, 'hello');
  assert.deepEqual(second.trailers, []);
});

for (const { size, replayable } of [
  { size: 99, replayable: true },
  { size: 100, replayable: true },
  { size: 101, replayable: false },
]) {
  for (const declared of [true, false]) {
    test(`with a cap of 100 a body of ${String(size)} bytes, length ${declared ? 'declared' : 'unknown'}, is ${replayable ? '' : 'not '}replayable and streams whole`, () => {
      const { body, uploader, memory, reasons } = setup({ capBytes: 100, contentLength: declared ? size : undefined });
      const first = open(body);
      for (let sent = 0; sent < size; sent += 1) uploader.push('x');
      uploader.sink?.end([]);
      assert.equal(first.text.length, size);
      assert.deepEqual(first.trailers, []);
      assert.equal(body.replayable, replayable);
      assert.deepEqual(reasons, replayable ? [] : ['request-cap']);
      assert.equal(memory.usedBytes, replayable ? size : 0);
    });
  }
}

test('a body declared larger than the cap is replayable until its first byte is handed out, and never held', () => {
  const { body, uploader, memory } = setup({ capBytes: 10, contentLength: 11 });
  const refused = open(body);
  refused.cursor?.close();
  assert.equal(body.replayable, true);
  open(body);
  assert.equal(body.replayable, true);
  uploader.push('x');
  assert.equal(body.replayable, false);
  assert.equal(memory.usedBytes, 0);
});

test('a body that outgrew the cap cannot be opened again', () => {
  const { body, uploader } = setup({ capBytes: 3 });
  const first = open(body);
  uploader.push('four');
  first.cursor?.close();
  assert.throws(() => open(body), /not kept/);
});

test('a body has one reader at a time', () => {
  const { body } = setup();
  open(body);
  assert.throws(() => open(body), /open already/);
});

test('when all bodies together reach the global limit, the next one streams without being kept', () => {
  const memory = createReplayMemory(8);
  const uploaders = [new Uploader(), new Uploader()];
  const bodies = uploaders.map((source) =>
    createReplayBody({ source, contentLength: undefined, capBytes: 100, memory }),
  );
  const readings = bodies.map((body) => open(body));
  uploaders[0]?.push('123456');
  uploaders[1]?.push('123');
  uploaders[1]?.push('456');
  assert.deepEqual(
    bodies.map((body) => body.replayable),
    [true, false],
  );
  assert.equal(readings[1]?.text, '123456');
  assert.equal(memory.usedBytes, 6);
  for (const body of bodies) body.destroy();
  assert.equal(memory.usedBytes, 0);
});

test('between two attempts the source is paused after a first piece, and nothing is lost', () => {
  const { body, uploader } = setup();
  const first = open(body);
  uploader.push('a');
  first.cursor?.close();
  assert.equal(uploader.paused, false);
  uploader.push('b'.repeat(16_384));
  assert.equal(uploader.paused, true);
  assert.equal(body.replayable, true);
  const second = open(body);
  assert.equal(uploader.paused, false);
  assert.equal(second.text.length, 16_385);
});

test('what arrives over the cap between two attempts still reaches the next one whole', () => {
  const { body, uploader, reasons } = setup({ capBytes: 10 });
  const first = open(body);
  uploader.push('12345678');
  first.cursor?.close();
  uploader.push('90123456');
  assert.equal(body.replayable, true);
  const second = open(body);
  assert.equal(second.text, '1234567890123456');
  assert.equal(body.replayable, false);
  assert.deepEqual(reasons, ['request-cap']);
});

test('a reader that is full pauses the source, and gets the rest when it resumes', () => {
  const { body, uploader } = setup({ capBytes: 20_000 });
  const reading = open(body, 1);
  uploader.push('x'.repeat(10));
  uploader.push('y'.repeat(16_384));
  assert.equal(uploader.paused, true);
  assert.equal(reading.text.length, 10);
  reading.pauseAfter = Infinity;
  reading.cursor?.resume();
  assert.equal(reading.text.length, 16_394);
  assert.equal(uploader.paused, false);
});

test('the end waits for a reader that is full', () => {
  const { body, uploader } = setup();
  const reading = open(body, 1);
  uploader.push('x');
  uploader.sink?.end([]);
  assert.equal(reading.trailers, undefined);
  reading.cursor?.resume();
  assert.deepEqual(reading.trailers, []);
});

test('an upload that dies reaches the open attempt, and the next one at once', () => {
  const { body, uploader } = setup();
  const first = open(body);
  uploader.push('abc');
  uploader.sink?.fail(clientLeft);
  const second = open(body);
  assert.equal(first.failure, clientLeft);
  assert.equal(second.failure, clientLeft);
  assert.equal(second.text, '');
});

test('commit releases the memory and lets the open attempt read on', () => {
  const { body, uploader, memory } = setup();
  const reading = open(body);
  uploader.push('abc');
  assert.equal(memory.usedBytes, 3);
  body.commit();
  assert.equal(memory.usedBytes, 0);
  uploader.push('def');
  uploader.sink?.end([]);
  assert.equal(reading.text, 'abcdef');
  assert.equal(memory.usedBytes, 0);
  assert.equal(body.replayable, false);
});

test('a body committed before its first attempt streams without being kept', () => {
  const { body, uploader, memory, reasons } = setup();
  body.commit();
  const reading = open(body);
  uploader.push('abc');
  assert.equal(reading.text, 'abc');
  assert.equal(body.replayable, false);
  assert.equal(memory.usedBytes, 0);
  assert.deepEqual(reasons, []);
});

test('destroy releases everything and stops the source', () => {
  const { body, uploader, memory } = setup();
  const reading = open(body, 1);
  uploader.push('abc');
  uploader.push('def');
  body.destroy();
  uploader.push('ghi');
  uploader.sink?.end([]);
  assert.equal(memory.usedBytes, 0);
  assert.equal(uploader.paused, true);
  assert.equal(reading.text, 'abc');
  assert.equal(reading.trailers, undefined);
});

test('there is a copy once the whole body is here and kept, and not before', () => {
  const { body, uploader } = setup();
  assert.equal(body.copy(), undefined);
  const first = openAndRead(body);
  uploader.push('one');
  assert.equal(body.copy(), undefined);
  uploader.sink?.end(['X-Sum', '1']);
  const copy = body.copy();
  assert.ok(copy);
  assert.deepEqual(
    [copy.complete, copy.replayable, copy.contentLength, copy.bytesReceived],
    [true, true, undefined, 3],
  );
  assert.equal(first.text, 'one');
});

test('a copy is read beside the body, each at its own pace, with the same bytes and trailers', () => {
  const { body, uploader } = setup({ contentLength: 6 });
  const first = new Reading();
  first.pauseAfter = 1;
  first.cursor = body.open(first);
  uploader.push('one');
  uploader.push('two');
  uploader.sink?.end(['X-Sum', '1']);
  const copy = body.copy();
  const second = openAndRead(copy!);
  assert.deepEqual([second.text, second.trailers, copy?.contentLength], ['onetwo', ['X-Sum', '1'], 6]);
  first.pauseAfter = Infinity;
  first.cursor.resume();
  assert.deepEqual([first.text, first.trailers], ['onetwo', ['X-Sum', '1']]);
});

test('a copy outlives the body, and can be read again and copied in its turn', () => {
  const { body, uploader } = setup();
  openAndRead(body);
  uploader.push('one');
  uploader.sink?.end([]);
  const copy = body.copy()!;
  body.destroy();
  assert.equal(body.copy(), undefined);
  for (const one of [copy, copy, copy.copy()!]) assert.equal(openAndRead(one).text, 'one');
  copy.destroy();
  assert.deepEqual([copy.replayable, copy.copy()], [false, undefined]);
  assert.throws(() => copy.open(new Reading()), /destroyed/);
});

test('a copy has one reader at a time, which may pause and close', () => {
  const { body, uploader } = setup();
  openAndRead(body);
  uploader.push('x'.repeat(5000));
  uploader.push('y'.repeat(5000));
  uploader.sink?.end([]);
  const copy = body.copy()!;
  const reading = new Reading();
  reading.pauseAfter = 1;
  const cursor = copy.open(reading);
  assert.throws(() => copy.open(new Reading()), /open already/);
  assert.deepEqual([reading.chunks.length, reading.trailers], [1, undefined]);
  cursor.close();
  cursor.resume();
  assert.equal(reading.chunks.length, 1);
  const again = new Reading();
  again.pauseAfter = 1;
  const second = copy.open(again);
  again.pauseAfter = Infinity;
  second.resume();
  assert.deepEqual([again.text.length, again.trailers], [10_000, []]);
});

test('a body whose kept bytes changed has no copy', () => {
  const { body, uploader } = setup();
  openAndRead(body);
  const bytes = Buffer.alloc(5000, 'a');
  uploader.sink?.chunk(bytes);
  uploader.sink?.end([]);
  bytes[0] = 0;
  assert.equal(body.copy(), undefined);
});

test('a body that outgrew the cap has no copy', () => {
  const { body, uploader } = setup({ capBytes: 2 });
  openAndRead(body);
  uploader.push('one');
  uploader.sink?.end([]);
  assert.equal(body.copy(), undefined);
});

test('bytes that changed while they were kept are not sent again', () => {
  const { body, uploader } = setup();
  const first = open(body);
  const chunk = Buffer.from('hello');
  uploader.sink?.chunk(chunk);
  first.cursor?.close();
  chunk[0] = 0x4a;
  const second = open(body);
  assert.equal(second.text, '');
  assert.equal(second.failure?.kind, 'proxy_internal_error');
  assert.equal(second.failure?.source, 'internal');
});

test('a body that comes byte by byte is not held as a Buffer per byte', () => {
  const { body, uploader } = setup();
  const first = open(body);
  for (let sent = 0; sent < 10_000; sent += 1) uploader.push(String(sent % 10));
  first.cursor?.close();
  const second = open(body);
  assert.equal(second.text, first.text);
  assert.ok(second.chunks.length < 10, `${String(second.chunks.length)} pieces`);
});

test('a source may push everything from inside start', () => {
  const source: BodySource = {
    start(sink) {
      sink.chunk(Buffer.from('all'));
      sink.end([]);
    },
    pause() {},
    resume() {},
  };
  const body = createReplayBody({ source, contentLength: 3, capBytes: 10, memory: createReplayMemory(100) });
  assert.equal(open(body).text, 'all');
  assert.equal(open(body).text, 'all');
});

test('however it is cut, paused and reopened, every attempt reads a prefix of the same bytes, or the body says it cannot be replayed', () => {
  const event = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('push' as const),
        bytes: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 9000 })),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('reopen' as const), pauseAfter: fc.constantFrom(1, 2, 3, Infinity) }),
    },
    { weight: 2, arbitrary: fc.constant({ do: 'resume' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'close' as const }) },
  );
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 40 }),
      fc.constantFrom(0, 1, 30, 5000, 20_000),
      fc.constantFrom(0, 10_000, Infinity),
      fc.boolean(),
      (events, capBytes, memoryBytes, declared) => {
        const total = events.reduce((sum, one) => sum + (one.do === 'push' ? one.bytes : 0), 0);
        const { body, uploader, memory } = setup({
          capBytes,
          memoryBytes,
          contentLength: declared ? total : undefined,
        });
        const whole = Buffer.from(Array.from({ length: total }, (_, index) => (index * 31 + (index >> 8)) & 0xff));
        let pushed = 0;
        let reading: Reading | undefined = open(body);
        const readings = [reading];
        for (const one of events) {
          if (one.do === 'push') {
            uploader.push(whole.subarray(pushed, pushed + one.bytes));
            pushed += one.bytes;
          } else if (one.do === 'resume') {
            reading?.cursor?.resume();
          } else {
            reading?.cursor?.close();
            reading = undefined;
            if (one.do === 'reopen' && body.replayable) {
              reading = open(body, one.pauseAfter);
              readings.push(reading);
            }
          }
          assert.equal(body.bytesReceived, pushed);
        }
        uploader.sink?.end(['T', '1']);
        if (reading !== undefined) {
          reading.pauseAfter = Infinity;
          reading.cursor?.resume();
          assert.deepEqual(reading.trailers, ['T', '1']);
          assert.ok(whole.equals(Buffer.concat(reading.chunks)));
        }
        for (const { chunks, failure } of readings) {
          const got = Buffer.concat(chunks);
          assert.equal(failure, undefined);
          assert.ok(whole.subarray(0, got.length).equals(got));
        }
        if (body.replayable && reading === undefined) assert.ok(whole.equals(Buffer.concat(open(body).chunks)));
        if (total <= capBytes && memoryBytes === Infinity) assert.equal(body.replayable, true);
        body.destroy();
        assert.equal(memory.usedBytes, 0);
      },
    ),
    { numRuns: 500 },
  );
});
