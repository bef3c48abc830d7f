import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fieldPairs } from '../support/fields.ts';
import { frame, frameTypes, number32 } from '../support/http2-frames.ts';
import type { Wait } from '../support/origin-connection.ts';
import type { RequestPoint, Respond, Then } from '../support/origin-script.ts';
import type { Signal } from '../support/signal.ts';
import type { OriginWord } from './scenario.ts';

/** A stream, and what of its connection the words of a script need. */
export interface Playing {
  readonly stream: ServerHttp2Stream;
  readonly isHead: boolean;
  readonly seen: { readonly complete: boolean; readonly bodyBytes: number };
  readonly socket: Socket;
  readonly signal: Signal;
  readonly closed: AbortSignal;
  readonly wait: Wait;
  isOpen(name: string): boolean;
}

/** Plays one word of a script on a stream. */
export async function play(playing: Playing, word: OriginWord): Promise<void> {
  const { stream, socket } = playing;
  switch (word.do) {
    case 'respond':
      return respond(playing, word);
    case 'continue':
      stream.additionalHeaders({ ':status': 100 });
      return respond(playing, { do: 'respond', body: word.body });
    case 'rst':
      await until(playing, word.at);
      if (word.after !== undefined) {
        stream.additionalHeaders({ ':status': word.after });
        await nextTurn();
        await nextTurn();
      }
      return stream.close(word.code);
    case 'goaway': {
      await until(playing, word.at);
      const { id = 0 } = stream;
      const last = word.last === 'this' ? id : Math.max(0, id - 2);
      // As bytes: for 0 Node would name the last stream that it knows.
      return void socket.write(frame(frameTypes.goaway, 0, 0, Buffer.concat([number32(last), number32(word.code)])));
    }
    case 'reset':
    case 'close':
    case 'destroy':
    case 'hang':
    case 'stop-reading':
      await until(playing, word.at);
      if (word.delayMs !== undefined) await playing.wait(word.delayMs, playing.closed);
      if (word.do === 'stop-reading') stream.pause();
      return end(socket, word.do);
    case 'endless':
      await until(playing);
      stream.respond({ ':status': word.status ?? 200 });
      return pour(playing, Buffer.alloc(word.pieceBytes ?? 16_384, 'e'));
    default:
      throw new Error(`an HTTP/2 origin cannot do ${word.do}`);
  }
}

async function respond(playing: Playing, word: Respond): Promise<void> {
  const { stream, socket, closed, wait } = playing;
  await until(playing, word.at);
  if (word.delayMs !== undefined) await wait(word.delayMs, closed);
  if (word.gate !== undefined) await untilOpen(playing, word.gate);
  for (const { status, headers, count = 1 } of word.interim ?? [])
    for (let n = 0; n < count; n += 1) stream.additionalHeaders({ ...fieldsOf(headers), ':status': status });
  if (word.cut !== undefined && 'headBytes' in word.cut) {
    // What was said before is on the wire one turn later.
    await nextTurn();
    await nextTurn();
    return end(socket, word.then ?? 'close');
  }
  const body = Buffer.from((word.body ?? '') as string);
  const status = word.status ?? 200;
  const isBodiless = playing.isHead || status === 204 || status === 304;
  const framing = word.framing ?? 'length';
  const length =
    framing === 'length' && status !== 204 && status !== 304
      ? { 'content-length': word.declaredBytes ?? body.length }
      : {};
  stream.respond(
    { ':status': status, ...length, ...fieldsOf(word.headers) },
    {
      endStream: isBodiless || (body.length === 0 && word.declaredBytes === undefined && word.trailers === undefined),
      waitForTrailers: word.trailers !== undefined,
    },
  );
  if (word.trailers !== undefined) stream.once('wantTrailers', () => stream.sendTrailers(fieldsOf(word.trailers)));
  if (!stream.writable) return;
  if (word.bodyGate !== undefined) await untilOpen(playing, word.bodyGate);
  if (word.bodyDelayMs !== undefined) await wait(word.bodyDelayMs, closed);
  const said = word.cut === undefined ? body : body.subarray(0, word.cut.bodyBytes);
  const piece = word.drip?.pieceBytes ?? Math.max(1, said.length);
  for (let at = 0; at < said.length; at += piece) {
    if (at > 0) await wait(word.drip!.everyMs, closed);
    await write(playing, said.subarray(at, at + piece));
  }
  if (word.cut === undefined && word.declaredBytes === undefined) stream.end();
  else if (word.then === undefined || word.then === 'keep-alive') stream.close(2);
  if (word.then === undefined) return;
  await nextTurn();
  await nextTurn();
  end(socket, word.then);
}

async function pour(playing: Playing, bytes: Buffer): Promise<void> {
  while (!playing.closed.aborted && playing.stream.writable) await write(playing, bytes);
}

function write({ stream, closed }: Playing, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      closed.removeEventListener('abort', done);
      resolve();
    };
    closed.addEventListener('abort', done);
    stream.write(bytes, done);
  });
}

async function until({ seen, signal, closed }: Playing, point: RequestPoint = 'complete'): Promise<void> {
  if (point === 'head') return;
  const isReached = (): boolean => seen.complete || (point !== 'complete' && seen.bodyBytes >= point.bodyBytes);
  await signal.until(() => closed.aborted || isReached(), { what: 'the request to come so far', timeoutMs: 120_000 });
}

async function untilOpen({ signal, closed, isOpen }: Playing, name: string): Promise<void> {
  await signal.until(() => closed.aborted || isOpen(name), { what: `the gate ${name}`, timeoutMs: 120_000 });
}

export function end(socket: Socket, then: Then): void {
  if (then === 'close') socket.end();
  else if (then === 'destroy') socket.destroy();
  else if (then === 'reset') socket.resetAndDestroy();
}

function fieldsOf(fields: Respond['headers']): Record<string, string | string[]> {
  const made: Record<string, string | string[]> = {};
  for (const [name, value] of fieldPairs(fields)) {
    const lower = name.toLowerCase();
    // HTTP/2 knows no fields of a connection: their meaning is in its frames.
    if (lower === 'connection' || lower === 'keep-alive') continue;
    const before = made[lower];
    made[lower] = before === undefined ? value : [before, value].flat();
  }
  return made;
}
