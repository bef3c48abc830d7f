import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createUpstream } from '../../src/engine/upstream.ts';
import { parseAddress } from '../../src/engine/endpoint.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { createTransport } from '../../src/transport/create-transport.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { createRandom } from '../http1/random.ts';
import type { Random } from '../http1/random.ts';
import { ack, fieldBlock, frame, frameTypes, preface } from '../support/http2-frames.ts';
import { connectRaw } from '../support/raw-client.ts';
import { randomFrames } from './http2-cases.ts';

/** A proxy in front of an HTTP/2 origin that says what a case wants; cases run one after another. */
export interface Http2Lane {
  readonly port: number;
  /** Heads of requests that the origin has got since `answer` was set. */
  sends: number;
  /** Said once, when the next request has come; then the connection ends. Undefined: a plain 200. */
  answer: Buffer | undefined;
  close(): Promise<void>;
}

export async function openHttp2Lane(): Promise<Http2Lane> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    serve(socket, lane);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const clock = createSystemClock();
  const transport = createTransport({ clock, protocol: 'http2' });
  const address = parseAddress(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  const upstream = createUpstream({ name: 'origin', endpoints: [{ address }], transport });
  const proxy = createProxy({ selectUpstream: () => upstream }, { clock, diagnostics: () => {} });
  const listener = await proxy.listen('127.0.0.1:0');
  const lane: Http2Lane = {
    port: listener.address.port,
    sends: 0,
    answer: undefined,
    async close() {
      await proxy.close();
      upstream.close();
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return lane;
}

const plainAnswer = (id: number): Buffer =>
  Buffer.concat([
    frame(frameTypes.headers, 4, id, fieldBlock([[':status', '200']])),
    frame(frameTypes.data, 1, id, Buffer.from('next')),
  ]);

function serve(socket: Socket, lane: Http2Lane): void {
  socket.write(frame(frameTypes.settings, 0, 0));
  let rest: Buffer = Buffer.alloc(0);
  let isGreeted = false;
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    if (!isGreeted && rest.length < preface.length) return;
    if (!isGreeted) rest = rest.subarray(preface.length);
    isGreeted = true;
    for (let length = 0; rest.length >= 9 && rest.length >= 9 + (length = rest.readUIntBE(0, 3));) {
      const [type, flags, id] = [rest[3], rest[4]!, rest.readUInt32BE(5)];
      rest = rest.subarray(9 + length);
      if (type === frameTypes.settings && (flags & ack) === 0) socket.write(frame(frameTypes.settings, ack, 0));
      if (type !== frameTypes.headers) continue;
      lane.sends += 1;
      const { answer } = lane;
      lane.answer = undefined;
      if (answer === undefined) socket.write(plainAnswer(id));
      else socket.end(answer);
    }
  });
}

function answerBlock(random: Random): Buffer {
  const status = random.pick(['200', '200', '204', '304', '103', '100', '101', '099', '600', '', '503', 'x']);
  const fields = random.pick([
    [],
    [],
    [['content-length', '5']],
    [['content-length', '-1']],
    [['X', 'y']],
    [['connection', 'close']],
  ] as const);
  return fieldBlock([[':status', status], ...(fields as readonly (readonly [string, string])[])]);
}

/** Broken frames of an origin: the client gets one answer that is HTTP, a POST is sent once or, when refused, twice. */
export async function http2ResponseCase(lane: Http2Lane, seed: number): Promise<string | undefined> {
  const random = createRandom(seed);
  const method = random.pick(['GET', 'POST', 'HEAD']);
  const answer = randomFrames(random, () => answerBlock(random));
  const about = `to ${method}: ${answer.toString('hex')}`;
  lane.sends = 0;
  lane.answer = answer;
  const client = await connectRaw(lane.port);
  try {
    const got = await client.request(method === 'POST' ? { method, body: 'work' } : { method });
    if (got.fault !== undefined && got.complete) return `the client gets ${got.fault} ${about}`;
    if (lane.sends > 2) return `${lane.sends} sends ${about}`;
    if (!got.complete || got.value('connection') === 'close') return undefined;
    lane.answer = undefined;
    const next = await client.request({ target: '/next' });
    if (next.status === 200 && next.text !== 'next')
      return `the next request gets ${JSON.stringify(next.text)} ${about}`;
    return undefined;
  } catch (error) {
    return `${String(error).slice(0, 500)} ${about}`;
  } finally {
    client.destroy();
  }
}
