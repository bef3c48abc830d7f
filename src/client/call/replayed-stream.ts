import type { BodyCapture } from './body-capture.ts';

/** A body from its first byte, for one attempt. */
export function replayedStream(capture: BodyCapture): ReadableStream<Uint8Array> {
  const reading = capture.open();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reading.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await reading.return?.();
      },
    },
    // Nothing is taken from the source before somebody asks for it.
    { highWaterMark: 0 },
  );
}

/** Not every platform lets a stream be iterated. */
export async function* streamChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    isOver = true;
  } finally {
    if (!isOver) await reader.cancel().catch(() => undefined);
    reader.releaseLock();
  }
}
