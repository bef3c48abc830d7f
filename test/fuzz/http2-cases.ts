import { createRandom } from '../http1/random.ts';
import type { Random } from '../http1/random.ts';
import {
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  number32,
  preface,
  requestBlock,
} from '../support/http2-frames.ts';
import type { FuzzCase } from './http1-cases.ts';
import { converse, cutUp } from './lane.ts';

const streamIds = [1, 1, 1, 3, 3, 5, 7, 0, 2];

type Fields = readonly (readonly [string, string])[];

const fieldChoices: readonly Fields[] = [
  [],
  [],
  [['content-length', '5']],
  [['x', 'y']],
  [['te', 'trailers']],
  [
    ['cookie', 'a=b'],
    ['cookie', 'c=d'],
  ],
  [
    ['content-length', '5'],
    ['content-length', '6'],
  ],
  [['transfer-encoding', 'chunked']],
  [['connection', 'close']],
  [['host', 'a.test']],
  [['host', 'b.test']],
  [['X', 'y']],
  [['x', 'a\r\nb: c']],
  [[':path', '/other']],
  [['expect', '100-continue']],
];

function blockOf(random: Random): Buffer {
  const method = random.pick(['GET', 'POST', 'HEAD', 'PUT', 'CONNECT', 'get']);
  const path = random.pick(['/', '/a?b', '/a', '*', '', 'http://x/', '/a b', '/%2e%2e']);
  if (random.chance(0.1)) return fieldBlock(random.pick(fieldChoices));
  return requestBlock(method, path, random.pick(fieldChoices));
}

/** One frame, mostly one that has a place; its flags, its stream and its bytes may be wrong. */
export function randomFrame(random: Random, block: () => Buffer): Buffer {
  const id = random.pick(streamIds);
  const flags = random.chance(0.1) ? random.below(256) : random.pick([endHeaders, endHeaders | endStream]);
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return frame(frameTypes.headers, flags, id, block());
    case 4:
    case 5:
    case 6:
      return frame(
        frameTypes.data,
        random.pick([0, endStream, endStream, 8]),
        id,
        Buffer.from('hello'.slice(random.below(6))),
      );
    case 7: {
      const whole = block();
      const at = random.below(whole.length + 1);
      const first = frame(frameTypes.headers, flags & ~endHeaders, id, whole.subarray(0, at));
      return Buffer.concat([
        first,
        frame(frameTypes.continuation, random.pick([0, endHeaders, endHeaders]), id, whole.subarray(at)),
      ]);
    }
    case 8:
      return frame(frameTypes.resetStream, 0, id, number32(random.pick([0, 2, 5, 7, 8, 11, 13, 99])));
    case 9:
      return frame(
        frameTypes.windowUpdate,
        0,
        random.pick([0, id]),
        number32(random.pick([0, 1, 65_535, 2 ** 31 - 1])),
      );
    case 10:
      return frame(
        frameTypes.goaway,
        0,
        0,
        Buffer.concat([number32(random.pick([0, 1, 3, 2 ** 31 - 1])), number32(random.pick([0, 2, 11]))]),
      );
    default:
      return frame(
        random.below(14),
        random.below(256),
        random.pick([0, id]),
        Buffer.alloc(random.pick([0, 4, 5, 6, 8])),
      );
  }
}

export function randomFrames(random: Random, block: () => Buffer): Buffer {
  const frames = Array.from({ length: 1 + random.below(8) }, () => randomFrame(random, block));
  const bytes = Buffer.concat(frames);
  if (bytes.length > 0 && random.chance(0.3))
    for (let count = 1 + random.below(3); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

/** Broken frames of a client: the connection ends, and the origin gets what the proxy says. */
export const http2RequestCase: FuzzCase = async (lane, seed) => {
  const random = createRandom(seed);
  const bytes = Buffer.concat([preface, frame(frameTypes.settings, 0, 0), randomFrames(random, () => blockOf(random))]);
  lane.reset();
  const cuts = Array.from({ length: random.below(3) }, () => random.below(bytes.length + 1));
  const { hung, received } = await converse(lane.port, cutUp(bytes, cuts));
  const about = bytes.subarray(preface.length).toString('hex');
  if (hung) return `the listener neither answers nor closes: ${about}`;
  const broken = frameFault(received);
  const difference = broken ?? lane.difference();
  return difference === undefined ? undefined : `${difference}: ${about}`;
};

/** What the listener says must be whole frames, but for the last. */
function frameFault(received: Buffer): string | undefined {
  let at = 0;
  while (at + 9 <= received.length) {
    if (received[at + 3]! > 9) return `the client got a frame of type ${received[at + 3]}`;
    at += 9 + received.readUIntBE(at, 3);
  }
  return undefined;
}
