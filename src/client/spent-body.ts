import { isErrored, isReadable, Readable } from 'node:stream';

/**
 * @throws TypeError for a stream of which nothing is left: it would go out as an empty body, and be answered with 200.
 * One that broke is let through, for it tells of its own error when it is read.
 */
export function requireUnspent(body: unknown): void {
  const isSpent =
    body instanceof Readable
      ? body.readableEnded || (body.destroyed && body.errored === null)
      : body instanceof ReadableStream && isSpentWebStream(body as unknown as NodeJS.ReadableStream);
  if (isSpent) {
    throw new TypeError(
      'request body: this stream was read to its end already; give a new one, or a function that makes one',
    );
  }
}

/** These functions of Node read the state of its web streams too, which their types do not say. */
function isSpentWebStream(stream: NodeJS.ReadableStream): boolean {
  return Readable.isDisturbed(stream) && !isReadable(stream) && !isErrored(stream);
}
