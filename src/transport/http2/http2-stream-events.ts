import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';

/** RFC 9113 §6.2. */
const endStreamFlag = 0x1;
const headersFrame = 1;
/** RFC 9113 §7. */
const frameSizeError = 6;

/** What a stream's reader is told. */
export interface StreamListener {
  /** Pseudo-fields and fields, flat. `isEnd`: no body and no trailers follow. */
  onHead(raw: readonly string[], isEnd: boolean): void;
  onData(chunk: Buffer): void;
  onTrailers(raw: readonly string[]): void;
  /** The peer ended the message, and all of it was read. */
  onEnd(): void;
  /** The request's head was never sent, and nothing behind it; the close follows. `isTooLarge`: it does not fit, else the session ends. */
  onHeadNotSent(isTooLarge: boolean): void;
  /** Always the last: nothing goes in or out any more. */
  onClose(error: (Error & { readonly code?: string }) | undefined): void;
}

/** Listens to a stream of node:http2, whose events say less than they seem to. */
export function listenToStream(stream: ClientHttp2Stream, listener: StreamListener): void {
  let isWhole = false;
  let failure: Error | undefined;
  stream.on(
    'headers',
    raw((fields) => listener.onHead(fields, false)),
  );
  stream.on(
    'response',
    raw((fields, flags) => {
      listener.onHead(fields, (flags & endStreamFlag) !== 0);
      // Not before: a head is told in the next tick, and data that came in the same read of a stream that is no socket
      // (a tunnel) would be told ahead of it.
      stream.on('data', (chunk: Buffer) => listener.onData(chunk));
    }),
  );
  stream.on(
    'trailers',
    raw((fields) => listener.onTrailers(fields)),
  );
  stream.on('end', () => {
    if (isWhole) listener.onEnd();
  });
  stream.on('frameError', (type, code) => {
    if (type === headersFrame) listener.onHeadNotSent(code === frameSizeError);
  });
  stream.on('error', (error) => {
    failure = error;
  });
  stream.on('close', () => listener.onClose(failure));

  // Node ends a readable side whose peer reset the stream with NO_ERROR, or whose connection closed, as if the message
  // were whole. Only an end that comes while the stream is not closed is the peer's END_STREAM.
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null && !stream.closed && !stream.destroyed) isWhole = true;
    return push(chunk, encoding);
  };
}

/** The fields as they came: Node's types leave this argument out. */
function raw(tell: (fields: readonly string[], flags: number) => void): () => void {
  const listener = (_: IncomingHttpHeaders, flags: number, fields: readonly string[]): void => tell(fields, flags);
  return listener as () => void;
}
