import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { ack, endHeaders, endStream, fieldBlock, frame, frameTypes, number32, preface } from './http2-frames.ts';
import { createSignal } from './signal.ts';

/** One stream that a client opened, and what this origin says on it. Nothing is said by itself. */
export interface OriginStream {
  /** 1 for the first connection. */
  readonly connection: number;
  readonly id: number;
  /** 1 for the first stream of all connections. */
  readonly number: number;
  head(status: number, fields?: readonly (readonly [string, string])[], isEnd?: boolean): void;
  data(text: string, isEnd?: boolean): void;
  trailers(fields: readonly (readonly [string, string])[]): void;
  reset(code: number): void;
  goaway(code: number, lastStreamId: number): void;
  raw(bytes: Buffer): void;
  /** FIN on the connection. */
  end(): void;
  destroy(): void;
}

export interface Http2Origin {
  readonly host: string;
  readonly port: number;
  readonly key: string;
  /** Streams that were opened. */
  readonly streams: readonly OriginStream[];
  readonly connectionCount: number;
  /** Connections that are not closed. */
  readonly openCount: number;
  /** Error codes of the streams that the client reset, in order. */
  readonly resets: readonly number[];
  /** PINGs that the client sent. */
  readonly pingCount: number;
  until(check: () => boolean, what: string): Promise<void>;
}

export interface Http2OriginOptions {
  /** SETTINGS_MAX_CONCURRENT_STREAMS. Default: not said. */
  readonly maxStreams?: number;
  /** Default true. */
  readonly answersPings?: boolean;
  /** What is said first on a connection, in place of SETTINGS. */
  readonly greeting?: Buffer;
}

/** An HTTP/2 server that sends exactly the frames that a test names (RFC 9113). */
export async function startHttp2Origin(
  t: TestContext,
  onRequest: (stream: OriginStream) => void,
  options: Http2OriginOptions = {},
): Promise<Http2Origin> {
  const signal = createSignal();
  const streams: OriginStream[] = [];
  const resets: number[] = [];
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  let pingCount = 0;

  const server = createServer((socket) => {
    connectionCount += 1;
    const connection = connectionCount;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.write(options.greeting ?? settingsFrame(options.maxStreams));
    let rest = Buffer.alloc(0);
    let greeted = false;
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      if (!greeted) {
        if (rest.length < preface.length) return;
        rest = rest.subarray(preface.length);
        greeted = true;
      }
      while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
        const length = 9 + rest.readUIntBE(0, 3);
        onFrame(rest[3]!, rest[4]!, rest.readUInt32BE(5), rest.subarray(9, length));
        rest = rest.subarray(length);
      }
      signal.changed();
    });
    const onFrame = (type: number, flags: number, id: number, payload: Buffer): void => {
      switch (type) {
        case frameTypes.settings:
          if ((flags & ack) === 0) socket.write(frame(frameTypes.settings, ack, 0));
          break;
        case frameTypes.ping:
          if ((flags & ack) !== 0) break;
          pingCount += 1;
          if (options.answersPings !== false) socket.write(frame(frameTypes.ping, ack, 0, payload));
          break;
        case frameTypes.resetStream:
          resets.push(payload.readUInt32BE(0));
          break;
        case frameTypes.headers: {
          if (streams.some((one) => one.connection === connection && one.id === id)) break;
          const stream = originStream(socket, connection, id, streams.length + 1);
          streams.push(stream);
          onRequest(stream);
          break;
        }
        default:
      }
    };
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return {
    host: '127.0.0.1',
    port,
    key: `127.0.0.1:${String(port)}`,
    streams,
    resets,
    get connectionCount() {
      return connectionCount;
    },
    get openCount() {
      return sockets.size;
    },
    get pingCount() {
      return pingCount;
    },
    until: async (check, what) => {
      await signal.until(check, { what, describe: () => `${String(streams.length)} streams, resets ${resets.join()}` });
    },
  };
}

function settingsFrame(maxStreams: number | undefined): Buffer {
  const payload = maxStreams === undefined ? [] : [Buffer.from([0, 3]), number32(maxStreams)];
  return frame(frameTypes.settings, 0, 0, Buffer.concat(payload));
}

function originStream(socket: Socket, connection: number, id: number, number: number): OriginStream {
  const write = (type: number, flags: number, streamId: number, payload: Buffer): void => {
    socket.write(frame(type, flags, streamId, payload));
  };
  return {
    connection,
    id,
    number,
    head(status, fields = [], isEnd = false) {
      const block = fieldBlock([[':status', String(status)], ...fields]);
      write(frameTypes.headers, endHeaders | (isEnd ? endStream : 0), id, block);
    },
    data: (text, isEnd = false) => write(frameTypes.data, isEnd ? endStream : 0, id, Buffer.from(text)),
    trailers: (fields) => write(frameTypes.headers, endHeaders | endStream, id, fieldBlock(fields)),
    reset: (code) => write(frameTypes.resetStream, 0, id, number32(code)),
    goaway: (code, lastStreamId) =>
      write(frameTypes.goaway, 0, 0, Buffer.concat([number32(lastStreamId), number32(code)])),
    raw: (bytes) => void socket.write(bytes),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}
