import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

/** What arrived of a body: enough to tell that nothing was lost, doubled or swapped. */
export interface BodyDigest {
  readonly byteCount: number;
  readonly checksum: number;
}

const pieceBytes = 64 * 1_024;
/** Between its short rests the reader takes this much; with them it takes some hundred MB a second. */
const stretchBytes = 4 * 2 ** 20;
const restMs = 5;
/** In the middle the reader stops for so long that a proxy which reads on regardless would hold hundreds of MB. */
const stallMs = 2_000;

/** A body of exactly `byteCount` bytes and, once it has been read to its end, its digest. */
export function createBody(byteCount: number): { readonly stream: Readable; digest(): BodyDigest } {
  // The pieces differ from each other by their first bytes: two equal ones could change places unseen.
  const piece = Buffer.alloc(pieceBytes, 'the same request is never sent twice ');
  let sentCount = 0;
  let checksum = 0;
  const stream = new Readable({
    highWaterMark: 4 * pieceBytes,
    read() {
      if (sentCount === byteCount) {
        this.push(null);
        return;
      }
      const next = Buffer.from(piece.subarray(0, Math.min(pieceBytes, byteCount - sentCount)));
      if (next.length >= 8) next.writeDoubleLE(sentCount);
      sentCount += next.length;
      checksum = crc32(next, checksum);
      this.push(next);
    },
  });
  return { stream, digest: () => ({ byteCount: sentCount, checksum }) };
}

/** Reads a body more slowly than it can be sent, with one long stall half-way through the expected length. */
export async function readSlowly(body: Readable, expectedBytes: number): Promise<BodyDigest> {
  let byteCount = 0;
  let checksum = 0;
  let restAt = stretchBytes;
  let hasStalled = false;
  const sink = new Writable({
    write(piece: Buffer, _encoding, done) {
      byteCount += piece.length;
      checksum = crc32(piece, checksum);
      if (!hasStalled && byteCount >= expectedBytes / 2) {
        hasStalled = true;
        void sleep(stallMs).then(() => done());
      } else if (byteCount >= restAt) {
        restAt += stretchBytes;
        void sleep(restMs).then(() => done());
      } else {
        done();
      }
    },
  });
  await new Promise<void>((resolve, reject) => {
    body.once('error', reject);
    // A body that is cut off ends without `end`; without this the reader would wait for ever.
    body.once('close', () => body.readableEnded || reject(new Error(`the body was cut off after ${byteCount} bytes`)));
    sink.once('error', reject).once('finish', resolve);
    body.pipe(sink);
  });
  return { byteCount, checksum };
}
