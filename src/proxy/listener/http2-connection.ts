import { performServerHandshake } from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../transport/clock.ts';
import { Watchdog } from '../../transport/watchdog.ts';
import type { ClientPeer } from '../client-peer.ts';
import { peerOf } from '../client-peer.ts';
import type { ConnectionRefusal, ListenerLimits } from '../downstream.ts';
import { Http2Downstream } from './http2-downstream.ts';
import type { Http2StreamOwner } from './http2-downstream.ts';
import { END_STREAM, ERROR_CODE } from './http2-frames.ts';
import { Http2Gate } from './http2-gate.ts';
import type { GateOwner } from './http2-gate.ts';
import { NO_HTTP2_HEAD, readHttp2Request } from './http2-request.ts';
import type { ConnectionHost, ServerConnection } from './server-connection.ts';

/** After the last frame of a session: how long a client may take to read it. */
const FAREWELL_MS = 500;
/** Fields that Node reads; ours is the limit that is answered, with 431. */
const MAX_PAIR_COUNT = 256;

/** One client connection that speaks HTTP/2. */
export class Http2ServerConnection implements ServerConnection, GateOwner, Http2StreamOwner {
  readonly peer: ClientPeer;
  readonly #host: ConnectionHost;
  readonly #socket: Socket;
  readonly #gate: Http2Gate;
  readonly #session: ServerHttp2Session;
  readonly #streams = new Set<Http2Downstream>();
  readonly #watchdog: Watchdog;
  /** The client's first SETTINGS came. */
  #opened = false;
  #headOpen = false;
  #farewell: Timer | undefined;
  #refused = false;
  #lost = false;

  /** @param early Bytes of the client that were read to find out what it speaks. */
  constructor(host: ConnectionHost, socket: Socket, early: Buffer | undefined) {
    this.#host = host;
    this.#socket = socket;
    this.peer = peerOf(socket);
    const { headerBytes, maxStreams } = host.limits;
    this.#watchdog = new Watchdog(host.clock, () => this.#late());
    // A block may be larger packed than unpacked, by little; one that is too large for its limit gets an answer.
    this.#gate = new Http2Gate(socket, host.clock, 2 * headerBytes + 16_384, this);
    this.#session = performServerHandshake(this.#gate, {
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: headerBytes, enablePush: false },
      maxHeaderListPairs: MAX_PAIR_COUNT,
      // In megabytes. Over 10, its default, node:http2 refuses requests because earlier answers wait for a slow reader.
      maxSessionMemory: 64,
      // The gate counts these, and gives the reason; a read holds fewer.
      maxSessionInvalidFrames: 10_000,
      maxSessionRejectedStreams: 10_000,
      strictSingleValueFields: false,
    });
    const session = this.#session;
    session.on('error', (error) => this.#broken(error));
    session.on('stream', (stream, _head, flags, raw) => this.#request(stream, flags, raw));
    session.on('close', () => this.left());
    socket.once('close', () => this.#farewell?.cancel());
    session.once('remoteSettings', () => {
      this.#opened = true;
      this.#rearm();
    });
    this.#await(host.limits.headerTimeoutMs);
    if (early !== undefined) this.#gate.receive(early);
    socket.resume();
  }

  get clock(): Clock {
    return this.#host.clock;
  }

  get limits(): ListenerLimits {
    return this.#host.limits;
  }

  /** GOAWAY: streams that are open end, others find another connection (RFC 9113 §6.8). */
  drain(): void {
    this.#session.close();
  }

  cut(): void {
    for (const stream of this.#streams) stream.cut();
    // What was answered last leaves in the session's next turn.
    setImmediate(() => this.#end(ERROR_CODE.none));
  }

  // --- from the gate -----------------------------------------------------------------------------------------------

  received(): void {
    if (this.#gate.headOpen !== this.#headOpen) this.#rearm();
  }

  flooded(): void {
    this.#refuse(this.#gate.guard.flood ?? 'frame-flood');
    this.#end(ERROR_CODE.enhanceYourCalm);
  }

  left(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#watchdog.stop();
    this.#end(ERROR_CODE.none);
    this.#host.connectionClosed(this);
  }

  // --- from the streams --------------------------------------------------------------------------------------------

  streamClosed(downstream: Http2Downstream): void {
    this.#streams.delete(downstream);
    if (this.#streams.size === 0) this.#rearm();
  }

  #request(stream: ServerHttp2Stream, flags: number, raw: string[]): void {
    if (stream.destroyed || stream.closed) {
      stream.on('error', () => {});
      return;
    }
    const endsWithHead = (flags & END_STREAM) !== 0;
    const reading = readHttp2Request(raw, this.limits.headerBytes);
    const head = reading.ok ? reading.head : NO_HTTP2_HEAD;
    const downstream = new Http2Downstream(this, stream, head, endsWithHead);
    this.#streams.add(downstream);
    this.#rearm();
    if (reading.ok) this.#host.sink.request(downstream);
    else this.#host.sink.refused(downstream, reading.fault.status, reading.fault.message);
  }

  // -----------------------------------------------------------------------------------------------------------------

  /** One limit at a time: for the preface or a head that has begun, else for a connection without a request. */
  #rearm(): void {
    this.#headOpen = this.#gate.headOpen;
    const { headerTimeoutMs, keepAliveMs } = this.limits;
    if (!this.#opened || this.#headOpen) this.#await(headerTimeoutMs);
    else if (this.#streams.size === 0) this.#await(keepAliveMs);
    else this.#watchdog.set(Infinity);
  }

  /** 0 switches a limit off. */
  #await(limitMs: number): void {
    if (!this.#lost) this.#watchdog.set(limitMs === 0 ? Infinity : this.clock.nowMs() + limitMs);
  }

  #late(): void {
    if (this.#opened && !this.#headOpen) return this.#session.close();
    this.#refuse('head-timeout');
    this.#end(ERROR_CODE.none);
  }

  /** The session found something that no client may send. */
  #broken(error: Error): void {
    this.#refuse('protocol-error', error.message);
  }

  /** Counts the connection as refused, once. */
  #refuse(reason: ConnectionRefusal, detail = ''): void {
    if (this.#refused) return;
    this.#refused = true;
    this.#host.sink.connectionRefused(reason, this.peer.remoteAddress, detail);
  }

  /** Closes the connection, with a last word for a client that still reads. */
  #end(code: number): void {
    if (!this.#session.destroyed) {
      // Node takes the code of an error alone.
      this.#session.destroy(code === ERROR_CODE.none ? undefined : new Error('closed by the proxy'), code);
    }
    if (this.#socket.destroyed) return this.#farewell?.cancel();
    if (this.#farewell !== undefined) return;
    this.#farewell = this.clock.setTimer(FAREWELL_MS, () => this.#socket.destroy());
    this.#farewell.unref();
  }
}
