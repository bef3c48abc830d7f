import { ACK, END_HEADERS, END_STREAM, ERROR_CODE, FRAME } from './http2-frames.ts';

/** Why a session was closed that cost more than it asked for. */
export type Http2Flood =
  | 'rapid-reset'
  | 'continuation-flood'
  | 'settings-flood'
  | 'ping-flood'
  | 'window-update-flood'
  | 'empty-data-flood'
  | 'frame-flood'
  | 'bad-request-flood'
  | 'refused-stream-flood';

/** CONTINUATION frames of one header block; a block of 16 KiB needs none. */
const CONTINUATION_COUNT = 8;
/** WINDOW_UPDATE frames that a DATA frame of ours may be answered with: its stream's and the connection's, with room. */
const UPDATES_PER_DATA = 4;

/** A head that unpacks to more than is read costs as much as so many that are merely wrong. */
const BOMB_TOKENS = 10;

/** Tokens that come back with time, and by what the client does that is worth something. */
class Allowance {
  readonly #capacity: number;
  readonly #perSecond: number;
  #tokens: number;
  #atMs = 0;

  constructor(capacity: number, perSecond: number) {
    this.#capacity = capacity;
    this.#perSecond = perSecond;
    this.#tokens = capacity;
  }

  take(nowMs: number, tokens = 1): boolean {
    this.give(((nowMs - this.#atMs) / 1000) * this.#perSecond);
    this.#atMs = nowMs;
    this.#tokens -= tokens;
    return this.#tokens >= 0;
  }

  give(tokens: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + tokens);
  }
}

/**
 * Counts the frames of one HTTP/2 connection and says when they are an attack. Each kind of frame that makes us work
 * without asking for an answer has an allowance: enough for any client in use, and gone within a fraction of a second
 * under a flood. `nowMs` is to be set before frames are told.
 */
export class Http2FloodGuard {
  nowMs = 0;
  /** What it was; undefined while all is well. */
  flood: Http2Flood | undefined;
  /** A header block has begun, and its last frame has not. */
  blockOpen = false;
  readonly #headerBytes: number;
  #blockBytes = 0;
  #continuationCount = 0;
  /**
   * A stream that is answered gives its token back: a busy client that cancels some requests goes on for ever, one that
   * cancels nearly all does not.
   */
  readonly #resets = new Allowance(100, 10);
  readonly #settings = new Allowance(20, 2);
  /** Some clients measure their bandwidth with pings, one a round trip. */
  readonly #pings = new Allowance(500, 50);
  readonly #windowUpdates = new Allowance(2_000, 200);
  readonly #emptyData = new Allowance(100, 10);
  readonly #others = new Allowance(500, 50);
  /** Streams that had to be reset for what they held. */
  readonly #badRequests = new Allowance(50, 1);
  /** A client may open more streams than we allow before it has read how many those are. */
  readonly #refusedStreams = new Allowance(1_000, 20);

  /** @param headerBytes The largest header block, as it is on the wire. */
  constructor(headerBytes: number) {
    this.#headerBytes = headerBytes;
  }

  /** A frame of the client. False: it is a flood, and nothing more is to be read. */
  received(type: number, flags: number, lengthBytes: number): boolean {
    switch (type) {
      case FRAME.data:
        if (lengthBytes > 0 || (flags & END_STREAM) !== 0) return true;
        return this.#take(this.#emptyData, 'empty-data-flood');
      case FRAME.headers:
        this.#blockBytes = 0;
        this.#continuationCount = 0;
        return this.#block(flags, lengthBytes);
      case FRAME.continuation:
        this.#continuationCount += 1;
        return this.#block(flags, lengthBytes);
      case FRAME.resetStream:
        return this.#take(this.#resets, 'rapid-reset');
      case FRAME.settings:
        return this.#take((flags & ACK) === 0 ? this.#settings : this.#others, 'settings-flood');
      case FRAME.ping:
        return this.#take((flags & ACK) === 0 ? this.#pings : this.#others, 'ping-flood');
      case FRAME.windowUpdate:
        return this.#take(this.#windowUpdates, 'window-update-flood');
      default:
        return this.#take(this.#others, 'frame-flood');
    }
  }

  /** A frame of ours. False: the client has made us send too many of these. */
  sent(type: number, flags: number, errorCode: number): boolean {
    switch (type) {
      case FRAME.data:
        this.#windowUpdates.give(UPDATES_PER_DATA);
        if ((flags & END_STREAM) !== 0) this.#resets.give(1);
        return true;
      case FRAME.headers:
        if ((flags & END_STREAM) !== 0) this.#resets.give(1);
        return true;
      case FRAME.resetStream:
        return this.#reset(errorCode);
      default:
        return true;
    }
  }

  #block(flags: number, lengthBytes: number): boolean {
    this.#blockBytes += lengthBytes;
    this.blockOpen = (flags & END_HEADERS) === 0;
    if (this.#continuationCount <= CONTINUATION_COUNT && this.#blockBytes <= this.#headerBytes) return true;
    this.flood ??= 'continuation-flood';
    return false;
  }

  #reset(code: number): boolean {
    switch (code) {
      // Ours: an upload that is not needed, an answer that was cut, a client that takes none.
      case ERROR_CODE.none:
      case ERROR_CODE.internal:
      case ERROR_CODE.cancel:
        return true;
      case ERROR_CODE.refusedStream:
        return this.#take(this.#refusedStreams, 'refused-stream-flood');
      case ERROR_CODE.enhanceYourCalm:
        return this.#take(this.#badRequests, 'bad-request-flood', BOMB_TOKENS);
      default:
        return this.#take(this.#badRequests, 'bad-request-flood');
    }
  }

  #take(allowance: Allowance, flood: Http2Flood, tokens = 1): boolean {
    if (allowance.take(this.nowMs, tokens)) return true;
    this.flood ??= flood;
    return false;
  }
}
