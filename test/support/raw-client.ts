import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { setTimeout as wait } from 'node:timers/promises';
import { createMessageReader, type Framing } from './message-reader.ts';
import { ResponseEntry, responseFraming, type RawHead, type RawResponse } from './raw-response.ts';
import { formatRequest, type RequestInput } from './request-bytes.ts';
import { createSignal } from './signal.ts';

export interface RawClient {
  readonly localPort: number;
  /** Every byte received so far. */
  readonly received: Buffer;
  readonly receivedBytes: number;
  /** Final responses that are finished (or cut), in order. */
  readonly responses: readonly RawResponse[];
  /** Final responses whose head is there, in order; the last one may still be coming. */
  readonly begun: readonly RawResponse[];
  /** 1xx heads seen so far, on the whole connection. */
  readonly interim: readonly RawHead[];
  /** How the other side ended the connection, once it did. */
  readonly ending: 'fin' | 'reset' | undefined;
  /**
   * Writes exact bytes; resolves when the operating system took them, or the connection is gone.
   * @param methods methods of the requests that they finish, so that a HEAD's answer is read without a body; default GET
   */
  send(bytes: string | Buffer, methods?: readonly string[]): Promise<void>;
  /** The same in pieces, with `everyMs` between them (0: each in its own event-loop turn). */
  sendPieces(bytes: string | Buffer, pieceBytes: number, everyMs?: number): Promise<void>;
  sendRequest(request: RequestInput): Promise<void>;
  /** The next final response: whole, or cut by the end of the connection. */
  response(timeoutMs?: number): Promise<RawResponse>;
  /** The head of the response after those already taken by `response`, as soon as it is there. */
  head(): Promise<RawHead>;
  request(request: RequestInput, timeoutMs?: number): Promise<RawResponse>;
  waitFor<T>(check: () => T | false | undefined, what?: string, timeoutMs?: number): Promise<T>;
  waitForBytes(count: number): Promise<void>;
  /** Resolves when the other side ended the connection. */
  waitForEnd(): Promise<'fin' | 'reset'>;
  /** Sends FIN; keeps reading. */
  halfClose(): void;
  /** Sends RST. */
  reset(): void;
  /** Closes both ways. */
  destroy(): void;
  pauseReading(): void;
  resumeReading(): void;
}

/**
 * @param address a port of 127.0.0.1, or `host:port`
 * @param options.ca speak over TLS, with a server whose certificate for `localhost` this authority (PEM) has issued
 */
export async function connectRaw(
  address: number | string,
  options: { readonly t?: TestContext | undefined; readonly ca?: string | undefined } = {},
): Promise<RawClient> {
  const [host, port] = typeof address === 'number' ? ['127.0.0.1', address] : splitAddress(address);
  const { ca } = options;
  const carrier = connect({ host, port, allowHalfOpen: true, noDelay: true });
  const socket: Socket =
    ca === undefined
      ? carrier
      : connectTls({ socket: carrier, ca, servername: 'localhost', allowHalfOpen: true } as ConnectionOptions);
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once(ca === undefined ? 'connect' : 'secureConnect', () => {
      socket.off('error', reject);
      resolve();
    });
  });
  options.t?.after(() => {
    socket.destroy();
  });
  return clientOn(socket, carrier);
}

/** One request on a connection of its own. */
export async function requestRaw(
  address: number | string,
  request: RequestInput = {},
  timeoutMs?: number,
): Promise<RawResponse> {
  const client = await connectRaw(address);
  try {
    return await client.request(request, timeoutMs);
  } finally {
    client.destroy();
  }
}

function splitAddress(address: string): [string, number] {
  const at = address.lastIndexOf(':');
  return [address.slice(0, at), Number(address.slice(at + 1))];
}

/** @param carrier the socket below a TLS socket, else the same */
function clientOn(socket: Socket, carrier: Socket): RawClient {
  const signal = createSignal();
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  const methods: string[] = [];
  const finished: ResponseEntry[] = [];
  const finals: ResponseEntry[] = [];
  const allInterim: RawHead[] = [];
  let interim: RawHead[] = [];
  let current: ResponseEntry | undefined;
  let taken = 0;
  let ending: 'fin' | 'reset' | undefined;
  let closed = false;

  const finish = (entry: ResponseEntry): void => {
    finished.push(entry);
    current = undefined;
  };
  const reader = createMessageReader({
    begin() {
      current = new ResponseEntry();
    },
    head(startLine, fields): Framing {
      const entry = current!;
      const match = /^(HTTP\/1\.[01]) (\d{3})(?: (.*))?$/.exec(startLine);
      if (match === null) {
        entry.fault = `not a status line: ${JSON.stringify(startLine)}`;
        finish(entry);
        reader.stop();
        return { kind: 'none' };
      }
      [entry.version, entry.status, entry.reason, entry.fields] = [match[1]!, Number(match[2]), match[3] ?? '', fields];
      if (entry.status < 200 && entry.status !== 101) return { kind: 'none' };
      entry.interim = interim;
      interim = [];
      finals.push(entry);
      const framing = responseFraming(entry, methods.shift() ?? 'GET');
      entry.framing = framing.kind;
      return framing;
    },
    body(chunk) {
      current!.chunks.push(chunk);
    },
    complete(trailers) {
      const entry = current!;
      if (entry.status < 200 && entry.status !== 101) {
        interim.push(entry);
        allInterim.push(entry);
        current = undefined;
        return;
      }
      entry.trailers = trailers;
      entry.complete = entry.fault === undefined;
      finish(entry);
      if (entry.status === 101) reader.stop();
    },
    fault(message) {
      const entry = current ?? new ResponseEntry();
      entry.fault ??= message;
      finish(entry);
    },
  });

  const ended = (how: 'fin' | 'reset'): void => {
    if (ending !== undefined) return;
    ending = how;
    if (how === 'fin') reader.end();
    if (current !== undefined) {
      current.ending = how;
      if (current.status < 200 && current.status !== 101) current.status = 0;
      finish(current);
    }
    signal.changed();
  };
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    receivedBytes += chunk.length;
    reader.push(chunk);
    signal.changed();
  });
  socket.on('end', () => ended('fin'));
  socket.on('error', () => ended('reset'));
  socket.on('close', () => {
    closed = true;
    signal.changed();
  });

  const describe = (): string =>
    `received ${receivedBytes} bytes: ${JSON.stringify(client.received.subarray(0, 2000).toString('latin1'))}; connection ${ending ?? (closed ? 'closed here' : 'open')}`;

  const client: RawClient = {
    localPort: socket.localPort ?? 0,
    get received() {
      if (chunks.length > 1) chunks.splice(0, chunks.length, Buffer.concat(chunks));
      return chunks[0] ?? Buffer.alloc(0);
    },
    get receivedBytes() {
      return receivedBytes;
    },
    responses: finished,
    begun: finals,
    interim: allInterim,
    get ending() {
      return ending;
    },
    send(bytes, finishes = []) {
      methods.push(...finishes);
      return new Promise((resolve) => {
        if (!socket.writable) return resolve();
        const done = (): void => {
          socket.off('close', done);
          resolve();
        };
        socket.once('close', done);
        socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, done);
      });
    },
    async sendPieces(bytes, pieceBytes, everyMs = 0) {
      const whole = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
      for (let at = 0; at < whole.length && socket.writable; at += pieceBytes) {
        if (at > 0) await wait(everyMs);
        await client.send(whole.subarray(at, at + pieceBytes));
      }
    },
    sendRequest(request) {
      return client.send(formatRequest(request), [request.method ?? 'GET']);
    },
    async response(timeoutMs) {
      const number = taken++;
      return client.waitFor(
        () => {
          if (finished[number] !== undefined) return finished[number];
          // The connection ended and nothing at all came for this request.
          if (ending !== undefined || closed) return Object.assign(new ResponseEntry(), { ending, interim });
          return undefined;
        },
        `response ${number + 1}`,
        timeoutMs,
      );
    },
    async head() {
      return client.waitFor(() => finals[taken], `the head of response ${taken + 1}`);
    },
    async request(request, timeoutMs) {
      // Not awaited: an early answer must be readable while the body is stuck.
      void client.sendRequest(request);
      return client.response(timeoutMs);
    },
    waitFor: (check, what = 'the client to see something', timeoutMs) =>
      signal.until(check, { what, describe, timeoutMs }),
    async waitForBytes(count) {
      await client.waitFor(() => receivedBytes >= count, `${count} bytes`);
    },
    waitForEnd: () => client.waitFor(() => ending, 'the other side to end the connection'),
    halfClose() {
      socket.end();
    },
    reset() {
      carrier.resetAndDestroy();
    },
    destroy() {
      socket.destroy();
    },
    pauseReading() {
      socket.pause();
    },
    resumeReading() {
      socket.resume();
    },
  };
  return client;
}
