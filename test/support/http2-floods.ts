import type { FrameClient } from './http2-frames.ts';
import { ack, endHeaders, endStream, fieldBlock, frame, frameTypes, number32, requestBlock } from './http2-frames.ts';

/** One way to make a server work for nothing. */
export interface Http2FloodProbe {
  readonly name: string;
  /** What the proxy calls it. */
  readonly reason: string;
  /** Before the flood. */
  readonly opening?: readonly Uint8Array[];
  /** One batch of it, the n-th from 0; sent until the server has had enough. */
  batch(number: number): Uint8Array;
}

const BATCH_FRAMES = 200;

const repeated = (make: (index: number) => Uint8Array): Buffer =>
  Buffer.concat(Array.from({ length: BATCH_FRAMES }, (_, index) => make(index)));

const streamIdOf = (batch: number, index: number): number => 2 * (batch * BATCH_FRAMES + index) + 1;

const noPath = fieldBlock([[':method', 'GET']]);
const request = requestBlock('GET', '/flood');

/** A field of 4000 bytes that enters the table, and then nothing but references to it, of one byte each. */
const tableField = Buffer.concat([
  requestBlock('GET', '/bomb'),
  Buffer.from([0x40, 1]),
  Buffer.from('b', 'latin1'),
  Buffer.from([0x7f, 0xa1, 0x1e]),
  Buffer.alloc(4000, 0x62),
]);
const references = Buffer.concat([requestBlock('GET', '/bomb'), Buffer.alloc(15_000, 0xbe)]);

export const floods: readonly Http2FloodProbe[] = [
  {
    name: 'rapid reset',
    reason: 'rapid-reset',
    batch: (batch) =>
      repeated((index) => {
        const id = streamIdOf(batch, index);
        return Buffer.concat([
          frame(frameTypes.headers, endHeaders | endStream, id, request),
          frame(frameTypes.resetStream, 0, id, number32(8)),
        ]);
      }),
  },
  {
    name: 'requests that the server has to reset',
    reason: 'bad-request-flood',
    batch: (batch) =>
      repeated((index) => frame(frameTypes.headers, endHeaders | endStream, streamIdOf(batch, index), noPath)),
  },
  {
    name: 'CONTINUATION without an end',
    reason: 'continuation-flood',
    opening: [frame(frameTypes.headers, endStream, 1, request)],
    batch: () => repeated(() => frame(frameTypes.continuation, 0, 1, fieldBlock([['x', 'y']]))),
  },
  {
    name: 'SETTINGS',
    reason: 'settings-flood',
    batch: () => repeated(() => frame(frameTypes.settings, 0, 0)),
  },
  {
    name: 'PING',
    reason: 'ping-flood',
    batch: () => repeated(() => frame(frameTypes.ping, 0, 0, Buffer.alloc(8))),
  },
  {
    name: 'answers to PING that nobody asked for',
    reason: 'ping-flood',
    batch: () => repeated(() => frame(frameTypes.ping, ack, 0, Buffer.alloc(8))),
  },
  {
    name: 'empty DATA',
    reason: 'empty-data-flood',
    opening: [frame(frameTypes.headers, endHeaders, 1, requestBlock('PUT', '/flood'))],
    batch: () => repeated(() => frame(frameTypes.data, 0, 1)),
  },
  {
    name: 'WINDOW_UPDATE',
    reason: 'window-update-flood',
    batch: () => repeated(() => frame(frameTypes.windowUpdate, 0, 0, number32(1))),
  },
  {
    name: 'PRIORITY',
    reason: 'frame-flood',
    batch: () => repeated(() => frame(frameTypes.priority, 0, 1, Buffer.from([0, 0, 0, 3, 16]))),
  },
  {
    name: 'frames of a type that does not exist',
    reason: 'frame-flood',
    batch: () => repeated(() => frame(0x7f, 0, 0)),
  },
  {
    name: 'HPACK bomb',
    reason: 'bad-request-flood',
    opening: [frame(frameTypes.headers, endHeaders | endStream, 1, tableField)],
    batch: (batch) =>
      Buffer.concat(
        Array.from({ length: 10 }, (_, index) =>
          frame(frameTypes.headers, endHeaders | endStream, 2 * (batch * 10 + index) + 3, references),
        ),
      ),
  },
];

/** Sends a flood until the server closes the connection, or `batchCount` batches are sent. */
export async function flood(client: FrameClient, probe: Http2FloodProbe, batchCount: number): Promise<void> {
  await client.send(...(probe.opening ?? []));
  for (let batch = 0; batch < batchCount && !client.isClosed; batch += 1) await client.send(probe.batch(batch));
}
