import { createHash } from 'node:crypto';
import { createServer } from 'node:http2';
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fieldPairs } from '../support/fields.ts';
import { frame, frameTypes, number32 } from '../support/http2-frames.ts';
import type { Wait } from '../support/origin-connection.ts';
import type { RequestPoint, Respond, Then } from '../support/origin-script.ts';
import { createSignal } from '../support/signal.ts';
import type { Signal } from '../support/signal.ts';
import type { OriginPlan, OriginWord } from './scenario.ts';
import type { Seen, Target } from './target.ts';
import { inOrder, warmPath } from './target.ts';

/** NO_ERROR of RFC 9113 §7. */
const noError = 0;

class SeenStream implements Seen {
  readonly attempt: string | undefined;
  readonly key: string | undefined;
  readonly fault = undefined;
  readonly #hash = createHash('sha256');
  complete = false;
  isLeft = false;
  bodyBytes = 0;
  trailers: readonly string[] = [];

  constructor(head: IncomingHttpHeaders) {
    this.attempt = head['request-attempt'] as string | undefined;
    this.key = head['idempotency-key'] as string | undefined;
  }

  get bodySha256(): string {
    return this.#hash.copy().digest('hex');
  }

  add(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    this.#hash.update(chunk);
  }
}

interface Playing {
  readonly stream: ServerHttp2Stream;
  readonly isHead: boolean;
  readonly seen: SeenStream;
  readonly socket: Socket;
  readonly signal: Signal;
  readonly closed: AbortSignal;
  readonly wait: Wait;
  isOpen(name: string): boolean;
}

/** An origin that says over HTTP/2 what a script of the HTTP/1.1 origin says, as far as both protocols know it. */
export async function startHttp2Target(
  plan: Extract<OriginPlan, { kind: 'server' }>,
  wait: Wait,
  server: Http2Server = createServer(
    plan.maxStreams === undefined ? {} : { settings: { maxConcurrentStreams: plan.maxStreams } },
  ),
): Promise<Target> {
  const signal = createSignal();
  const gates = new Set<string>();
  const seen: SeenStream[] = [];
  const sockets = new Map<Socket, { left: boolean }>();
  const next = inOrder(plan.says);
  let latest: Socket | undefined;

  // Before the server's own listener, which makes the session.
  server.prependListener('connection', (socket: Socket) => {
    latest = socket;
    const state = { left: false };
    sockets.set(socket, state);
    const leave = (): void => {
      state.left = true;
      signal.changed();
    };
    socket.on('end', leave).on('error', leave).on('close', leave);
    greet(socket, plan);
  });
  server.on('session', (session: ServerHttp2Session) => {
    const socket = latest!;
    session.on('error', () => {});
    session.on('goaway', () => {});
    session.on('stream', (stream, head) => serve(stream, head, socket));
  });
  const serve = (stream: ServerHttp2Stream, head: IncomingHttpHeaders, socket: Socket): void => {
    stream.on('error', () => {});
    if (head[':path'] === warmPath) {
      stream.resume();
      stream.respond({ ':status': 200 }, { endStream: true });
      if (plan.afterWarm === 'close') stream.on('close', () => stream.session?.close());
      return;
    }
    const entry = new SeenStream(head);
    seen.push(entry);
    const abort = new AbortController();
    stream.on('data', (chunk: Buffer) => {
      entry.add(chunk);
      signal.changed();
    });
    stream.on('trailers', (fields) => {
      entry.trailers = Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
    });
    stream.on('end', () => {
      // A stream that was reset ends, too.
      entry.complete = stream.rstCode === noError && !stream.aborted;
      signal.changed();
    });
    stream.on('aborted', () => {
      entry.isLeft = true;
    });
    stream.on('close', () => {
      abort.abort(new Error('the stream is closed'));
      signal.changed();
    });
    const isHead = head[':method'] === 'HEAD';
    const isOpen = (name: string): boolean => gates.has(name);
    play({ stream, isHead, seen: entry, socket, signal, closed: abort.signal, wait, isOpen }, next()).catch(
      (error: unknown) => {
        if (!abort.signal.aborted && !socket.destroyed) throw error;
      },
    );
    signal.changed();
  };
  await new Promise<void>((resolve) => (server as Server).listen(0, '127.0.0.1', resolve));

  return {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    get openCount() {
      return [...sockets.values()].filter(({ left }) => !left).length;
    },
    openGate(name) {
      gates.add(name);
      signal.changed();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets.keys()) socket.destroy();
      await closed;
      signal.changed();
    },
  };
}

function greet(socket: Socket, { connections = 'serve' }: Extract<OriginPlan, { kind: 'server' }>): void {
  if (connections === 'serve' || connections === 'hang') return;
  if (connections === 'close' || connections === 'reset' || connections === 'destroy') end(socket, connections);
  else throw new Error(`an HTTP/2 origin cannot do ${JSON.stringify(connections)}`);
}

async function play(playing: Playing, word: OriginWord): Promise<void> {
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

function end(socket: Socket, then: Then): void {
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
