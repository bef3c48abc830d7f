import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createMessageReader } from '../support/message-reader.ts';
import { fieldValues } from '../support/fields.ts';

/** A request as an origin read it that shares no code with the proxy. */
export interface SeenRequest {
  method: string;
  target: string;
  /** Of the field by which the proxy marks each attempt; empty: it has none, or two. */
  mark: string;
  body: string;
  complete: boolean;
}

export interface FuzzOrigin {
  readonly address: string;
  readonly seen: SeenRequest[];
  /** What is no HTTP in what the proxy sent. */
  readonly faults: string[];
  /** What is said to the next request that is whole, in pieces; then the connection ends. Undefined: a plain 200. */
  answer: readonly Buffer[] | undefined;
  close(): Promise<void>;
}

/** The field by which attempts are told apart. */
export const MARK = 'x-fuzz-mark';

const plainAnswer = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext';

export async function startFuzzOrigin(): Promise<FuzzOrigin> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    serve(socket, origin);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin: FuzzOrigin = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    faults: [],
    answer: undefined,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return origin;
}

function serve(socket: Socket, origin: FuzzOrigin): void {
  let current: SeenRequest | undefined;
  const reader = createMessageReader({
    begin() {
      current = { method: '', target: '', mark: '', body: '', complete: false };
      origin.seen.push(current);
    },
    head(startLine, fields) {
      const [method = '', target = '', version, rest] = startLine.split(' ');
      if (version !== 'HTTP/1.1' || rest !== undefined) origin.faults.push(`not a request line: ${startLine}`);
      const marks = fieldValues(fields, MARK);
      Object.assign(current!, { method, target, mark: marks.length === 1 ? marks[0]! : '' });
      return framingOf(fields, origin.faults);
    },
    body(chunk) {
      current!.body += chunk.toString('latin1');
    },
    complete() {
      current!.complete = true;
      const { answer } = origin;
      origin.answer = undefined;
      if (answer === undefined) socket.write(plainAnswer);
      else void say(socket, answer);
    },
    fault: (message) => origin.faults.push(message),
  });
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
}

async function say(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise(setImmediate);
  }
  socket.end();
}

function framingOf(
  fields: string[],
  faults: string[],
): { kind: 'none' | 'chunked' } | { kind: 'length'; bytes: number } {
  const lengths = fieldValues(fields, 'content-length');
  const codings = fieldValues(fields, 'transfer-encoding');
  if (fieldValues(fields, 'host').length !== 1) faults.push('not one Host');
  if (lengths.length + codings.length > 1) faults.push('more than one framing field');
  if (codings.length > 0) {
    if (codings[0] !== 'chunked') faults.push(`Transfer-Encoding: ${codings[0]}`);
    return { kind: 'chunked' };
  }
  if (lengths.length === 0) return { kind: 'none' };
  if (!/^(0|[1-9]\d*)$/.test(lengths[0]!)) faults.push(`Content-Length: ${lengths[0]}`);
  return { kind: 'length', bytes: Number(lengths[0]) };
}
