/**
 * Reads HTTP/1.x messages for the tests. It shares nothing with the product's parser, so that a fault of that one
 * cannot hide behind the same fault here. It is strict and plain: clarity before speed.
 */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

export interface MessageReaderHandler {
  /** The first byte of a message arrived. */
  begin(): void;
  /** The head is whole. The answer says how its body is framed. */
  head(startLine: string, fields: string[], headBytes: number): Framing;
  body(chunk: Buffer): void;
  complete(trailers: string[]): void;
  /** The bytes are not HTTP; nothing is read after it. */
  fault(message: string): void;
}

export interface MessageReader {
  push(chunk: Buffer): void;
  /** The peer sent its FIN. Returns whether it came between two messages (or ended a body framed by it). */
  end(): boolean;
  /** The rest is not HTTP (a 101 was sent, say): `push` does nothing from now on. */
  stop(): void;
}

const maxHeadBytes = 4 * 1024 * 1024;
const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*$/;
const crlf = Buffer.from('\r\n');
const emptyLine = Buffer.from('\r\n\r\n');

type State =
  | 'idle'
  | 'head'
  | 'length'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-end'
  | 'trailers'
  | 'until-close'
  | 'dead';

/** Splits a header or trailer section into a flat list; a string instead is the fault. */
export function parseFields(lines: readonly string[]): string[] | string {
  const fields: string[] = [];
  for (const line of lines) {
    const match = fieldLine.exec(line);
    if (match === null) return `not a field line: ${JSON.stringify(line)}`;
    fields.push(match[1]!, match[2]!);
  }
  return fields;
}

export function createMessageReader(handler: MessageReaderHandler): MessageReader {
  let state: State = 'idle';
  let buffered: Buffer = Buffer.alloc(0);
  let remaining = 0;

  // A call hides from the type checker what the handler may do.
  const isDead = (): boolean => state === 'dead';
  const fault = (message: string): void => {
    state = 'dead';
    buffered = Buffer.alloc(0);
    handler.fault(message);
  };
  const take = (count: number): Buffer => {
    const taken = buffered.subarray(0, count);
    buffered = buffered.subarray(count);
    return taken;
  };
  const complete = (trailers: string[]): void => {
    state = 'idle';
    handler.complete(trailers);
  };
  const takeLine = (): string | undefined => {
    const at = buffered.indexOf(crlf);
    if (at < 0) {
      if (buffered.length > maxHeadBytes) fault('a line without end');
      return undefined;
    }
    const line = take(at).toString('latin1');
    take(2);
    return line;
  };

  const readHead = (): boolean => {
    const at = buffered.indexOf(emptyLine);
    if (at < 0) {
      if (buffered.length > maxHeadBytes) fault('a head without end');
      return false;
    }
    const lines = take(at).toString('latin1').split('\r\n');
    take(4);
    const fields = parseFields(lines.slice(1));
    if (typeof fields === 'string') return (fault(fields), false);
    const framing = handler.head(lines[0]!, fields, at + 4);
    // The handler may have stopped the reader.
    if (isDead()) return false;
    if (framing.kind === 'none' || (framing.kind === 'length' && framing.bytes === 0)) complete([]);
    else if (framing.kind === 'length') [state, remaining] = ['length', framing.bytes];
    else state = framing.kind === 'chunked' ? 'chunk-size' : 'until-close';
    return true;
  };

  const readTrailers = (): boolean => {
    const lines: string[] = [];
    const at = buffered.subarray(0, 2).equals(crlf) ? -2 : buffered.indexOf(emptyLine);
    if (at === -1) return false;
    if (at > 0) lines.push(...take(at).toString('latin1').split('\r\n'));
    take(at > 0 ? 4 : 2);
    const trailers = parseFields(lines);
    if (typeof trailers === 'string') return (fault(trailers), false);
    complete(trailers);
    return true;
  };

  /** One step; false when it needs more bytes. */
  const step = (): boolean => {
    if (buffered.length === 0) return false;
    switch (state) {
      case 'dead':
        buffered = Buffer.alloc(0);
        return false;
      case 'idle':
        state = 'head';
        handler.begin();
        return true;
      case 'head':
        return readHead();
      case 'until-close':
        handler.body(take(buffered.length));
        return true;
      case 'length':
      case 'chunk-data': {
        const part = take(Math.min(remaining, buffered.length));
        remaining -= part.length;
        handler.body(part);
        if (remaining > 0) return false;
        if (state === 'length') complete([]);
        else state = 'chunk-end';
        return true;
      }
      case 'chunk-size': {
        const line = takeLine();
        if (line === undefined) return false;
        const match = /^([0-9A-Fa-f]{1,12})(;.*)?$/.exec(line);
        if (match === null) return (fault(`not a chunk size: ${JSON.stringify(line)}`), false);
        remaining = Number.parseInt(match[1]!, 16);
        state = remaining === 0 ? 'trailers' : 'chunk-data';
        return true;
      }
      case 'chunk-end': {
        if (buffered.length < 2) return false;
        if (!take(2).equals(crlf)) return (fault('a chunk is not followed by CRLF'), false);
        state = 'chunk-size';
        return true;
      }
      case 'trailers':
        return readTrailers();
    }
  };

  return {
    push(chunk) {
      if (state === 'dead') return;
      buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
      while (step());
    },
    end() {
      if (state === 'until-close') complete([]);
      return state === 'idle' || state === 'dead';
    },
    stop() {
      state = 'dead';
    },
  };
}
