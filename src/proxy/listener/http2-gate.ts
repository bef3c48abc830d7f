import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../../transport/clock.ts';
import { Http2FloodGuard } from './http2-flood-guard.ts';
import { Http2FrameScanner } from './http2-frame-scanner.ts';
import { FRAME, PREFACE } from './http2-frames.ts';

/** What the connection wants to know of its bytes. */
export interface GateOwner {
  /** Bytes of the client were looked at, and passed on. */
  received(): void;
  /** Nothing more is passed on: `gate.guard.flood` says why. Called once, from a turn of its own. */
  flooded(): void;
  /** The client closed its side, or the connection broke. */
  left(): void;
}

/**
 * Frames of the client in a row; then the event loop makes a turn. Otherwise a flood would be read by the megabyte before
 * the first frame that tells of it is written.
 */
const FRAMES_AT_ONCE = 100;

type Done = (error?: Error | null) => void;

/**
 * Stands between a socket and Node's HTTP/2 session, and looks at every frame before the session does. The session
 * answers floods only after it has done the work, tells nothing of many of them, and cannot say that a header block has
 * begun and does not end.
 */
export class Http2Gate extends Duplex {
  readonly guard: Http2FloodGuard;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #owner: GateOwner;
  readonly #inbound: Http2FrameScanner;
  readonly #outbound: Http2FrameScanner;
  #shut = false;
  #rowFrames = 0;
  /** Reading waits for the next turn. */
  #held = false;
  /** The session takes more. */
  #wanted = true;

  constructor(socket: Socket, clock: Clock, headerBytes: number, owner: GateOwner) {
    super({ readableHighWaterMark: 65_536, writableHighWaterMark: 65_536 });
    this.#socket = socket;
    this.#clock = clock;
    this.#owner = owner;
    const guard = new Http2FloodGuard(headerBytes);
    this.guard = guard;
    this.#inbound = new Http2FrameScanner(
      {
        frame: (type, flags, length) => {
          this.#rowFrames += 1;
          return guard.received(type, flags, length);
        },
      },
      PREFACE.length,
    );
    this.#outbound = new Http2FrameScanner({ frame: (type, flags, _length, code) => guard.sent(type, flags, code) }, 0);
    socket.on('data', (chunk) => this.receive(chunk));
    socket.on('end', () => owner.left());
    socket.on('error', () => {});
    socket.on('close', () => this.destroy());
    this.on('error', () => {});
    this.on('close', () => owner.left());
  }

  /** A header block of the client has begun and is not complete. */
  get headOpen(): boolean {
    const { openType } = this.#inbound;
    return this.guard.blockOpen || openType === FRAME.headers || openType === FRAME.continuation;
  }

  /** Bytes of the client, in their order. */
  receive(chunk: Buffer): void {
    if (this.#shut) return;
    this.guard.nowMs = this.#clock.nowMs();
    if (!this.#inbound.scan(chunk)) return this.#shutDown();
    this.#wanted = this.push(chunk);
    if (this.#rowFrames > FRAMES_AT_ONCE) this.#hold();
    else if (!this.#wanted) this.#socket.pause();
    this.#owner.received();
  }

  override _read(): void {
    this.#wanted = true;
    if (!this.#held) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#look(chunk);
    this.#socket.write(chunk, done);
  }

  override _writev(pieces: { chunk: Buffer }[], done: Done): void {
    const socket = this.#socket;
    socket.cork();
    for (const [index, { chunk }] of pieces.entries()) {
      this.#look(chunk);
      if (index === pieces.length - 1) socket.write(chunk, done);
      else socket.write(chunk);
    }
    socket.uncork();
  }

  override _final(done: Done): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#shut = true;
    // The last frames may still be on their way through TLS.
    this.#socket.destroySoon();
    done(error);
  }

  #hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#socket.pause();
    setImmediate(() => {
      this.#held = false;
      this.#rowFrames = 0;
      if (this.#wanted) this.#socket.resume();
    });
  }

  #look(chunk: Buffer): void {
    this.guard.nowMs = this.#clock.nowMs();
    if (!this.#shut && !this.#outbound.scan(chunk)) this.#shutDown();
  }

  #shutDown(): void {
    this.#shut = true;
    this.#socket.resume();
    // The session may be at work on this very stack.
    setImmediate(() => this.#owner.flooded());
  }
}
