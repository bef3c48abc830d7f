import { connect as connectPlain, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { createSignal } from './signal.ts';

/** Bytes of HTTP/2 as a client may send them, right or wrong (RFC 9113 §4.1). */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const endStream = 0x1;
export const ack = 0x1;
export const endHeaders = 0x4;

export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, 9);
  return bytes;
}

export function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Fields as HPACK literals that enter no table: the bytes say exactly what the test says (RFC 7541 §6.2.2). */
export function fieldBlock(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0x00]), literal(name), literal(value)]));
}

/** A request's field block, with `extra` behind the four pseudo-header fields. */
export function requestBlock(method: string, path: string, extra: readonly (readonly [string, string])[] = []): Buffer {
  return fieldBlock([[':method', method], [':scheme', 'http'], [':authority', 'a.test'], [':path', path], ...extra]);
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const head = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) head.push((rest % 128) + 128);
  head.push(rest);
  return Buffer.concat([Buffer.from(head), bytes]);
}

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** A client that sends frames one by one and writes down what comes back. It answers nothing by itself. */
export interface FrameClient {
  readonly frames: readonly ReceivedFrame[];
  /** The other side ended the connection, one way or another. */
  readonly isClosed: boolean;
  /** Resolves when the system took the bytes, or the connection is gone. */
  send(...parts: readonly Uint8Array[]): Promise<void>;
  waitFor<T>(check: () => T | false | undefined, what: string): Promise<T>;
  waitForClose(): Promise<void>;
  /** The code of the GOAWAY that came, −1 for none. */
  readonly goawayCode: number;
  /** The code with which a stream was reset; undefined while it was not. */
  resetCode(streamId: number): number | undefined;
  /** The status of a stream's response, as soon as its head is there. */
  status(streamId: number): Promise<number>;
  /** What came in DATA frames of a stream. */
  body(streamId: number): string;
  pauseReading(): void;
  destroy(): void;
}

export interface FrameClientOptions {
  readonly t?: TestContext;
  /** PEM of who signed the server's certificate: speak over TLS. */
  readonly ca?: string;
  /** Without it, preface and SETTINGS are sent at once. */
  readonly silent?: boolean;
}

export async function connectFrames(port: number, options: FrameClientOptions = {}): Promise<FrameClient> {
  const { ca } = options;
  const socket: Socket =
    ca === undefined
      ? connectPlain({ host: '127.0.0.1', port, noDelay: true })
      : connectTls({ host: '127.0.0.1', port, ca, servername: 'localhost', ALPNProtocols: ['h2'] });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once(ca === undefined ? 'connect' : 'secureConnect', resolve);
  });
  options.t?.after(() => void socket.destroy());
  const client = clientOn(socket);
  if (options.silent !== true) await client.send(preface, frame(frameTypes.settings, 0, 0));
  return client;
}

function clientOn(socket: Socket): FrameClient {
  const signal = createSignal();
  const frames: ReceivedFrame[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let isClosed = false;
  socket.on('data', (chunk: Buffer) => {
    rest = takeFrames(Buffer.concat([rest, chunk]), frames);
    signal.changed();
  });
  const close = (): void => {
    isClosed = true;
    signal.changed();
  };
  socket.on('end', close);
  socket.on('error', close);
  socket.on('close', close);
  const describe = (): string =>
    `${frames.map(({ type, flags, streamId }) => `type ${type} flags ${flags} stream ${streamId}`).join('\n')}\nclosed: ${isClosed}`;
  const waitFor: FrameClient['waitFor'] = (check, what) => signal.until(check, { what, describe });
  const headOf = (streamId: number): ReceivedFrame | undefined =>
    frames.find((one) => one.type === frameTypes.headers && one.streamId === streamId);
  return {
    frames,
    get isClosed() {
      return isClosed;
    },
    send(...parts) {
      return new Promise((resolve) => {
        if (socket.destroyed) return resolve();
        socket.once('close', resolve);
        socket.write(Buffer.concat(parts), () => {
          socket.off('close', resolve);
          resolve();
        });
      });
    },
    waitFor,
    waitForClose: () => waitFor(() => isClosed, 'the end of the connection').then(() => {}),
    get goawayCode() {
      const last = frames.findLast(({ type }) => type === frameTypes.goaway);
      return last === undefined ? -1 : last.payload.readUInt32BE(4);
    },
    resetCode: (streamId) =>
      frames.find((one) => one.type === frameTypes.resetStream && one.streamId === streamId)?.payload.readUInt32BE(0),
    async status(streamId) {
      const head = await waitFor(() => headOf(streamId), `the response of stream ${streamId}`);
      return statusOf(head.payload);
    },
    body: (streamId) =>
      frames
        .filter((one) => one.type === frameTypes.data && one.streamId === streamId)
        .map(({ payload }) => payload.toString('latin1'))
        .join(''),
    pauseReading: () => void socket.pause(),
    destroy: () => void socket.destroy(),
  };
}

/** Returns the bytes of the frame that is not complete. */
function takeFrames(bytes: Buffer, into: ReceivedFrame[]): Buffer {
  let at = 0;
  while (bytes.length - at >= 9) {
    const length = bytes.readUIntBE(at, 3);
    if (bytes.length - at - 9 < length) break;
    const payload = bytes.subarray(at + 9, at + 9 + length);
    into.push({ type: bytes[at + 3]!, flags: bytes[at + 4]!, streamId: bytes.readUInt32BE(at + 5), payload });
    at += 9 + length;
  }
  return bytes.subarray(at);
}

/** `:status` stands first: an entry of the static table, or three digits (RFC 7541, appendices A and B). */
function statusOf(block: Buffer): number {
  const known = [200, 204, 206, 304, 400, 404, 500][block[0]! - 0x88];
  if (known !== undefined) return known;
  const length = block[1]! & 0x7f;
  const text = block.subarray(2, 2 + length);
  return Number((block[1]! & 0x80) === 0 ? text.toString('latin1') : huffmanDigits(text));
}

function huffmanDigits(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  let text = '';
  while (text.length < 3) {
    const five = Number.parseInt(bits.slice(0, 5), 2);
    const isShort = five < 3;
    text += isShort ? String(five) : String(Number.parseInt(bits.slice(0, 6), 2) - 0b011001 + 3);
    bits = bits.slice(isShort ? 5 : 6);
  }
  return text;
}
