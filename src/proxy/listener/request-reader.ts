import type { Socket } from 'node:net';
import type { RequestHandler } from '../../http1/message.ts';
import { createRequestParser } from '../../http1/request-parser.ts';
import type { RequestParser } from '../../http1/request-parser.ts';
import type { Clock } from '../../transport/clock.ts';
import { Watchdog } from '../../transport/watchdog.ts';
import type { ListenerLimits } from '../downstream.ts';
import { RequestEnd } from './half-close.ts';

/** Bytes of following requests that are held while one is being answered; more stay in the kernel. */
const PIPELINE_BYTES = 65_536;
/** Requests of one connection that are answered in one turn of the event loop; the others wait for the next turn. */
const AT_ONCE_COUNT = 16;

/** What a connection waits for, each with a limit of its own. */
export type Awaited = 'head' | 'body' | 'next-request' | 'last-bytes';

/** The request that is being answered. */
export interface CurrentRequest {
  readonly requestComplete: boolean;
  readonly wantsBody: boolean;
}

export interface ReaderOwner extends RequestHandler {
  readonly clock: Clock;
  readonly limits: ListenerLimits;
  readonly exchange: CurrentRequest | undefined;
  /** The client does not take what it was answered. */
  readonly isBlocked: boolean;
  /** No further request is read. */
  readonly isOver: boolean;
  /** The client will send nothing more. */
  readonly isHalfClosed: boolean;
  /** The same bytes, as they stay when the next ones are read. */
  kept(chunk: Buffer): Buffer;
  /** Every request that arrived was answered, and no other can come. */
  exhausted(): void;
  /** What it waits for has not come in time. */
  late(what: Awaited): void;
}

/** Reads the requests of one connection, one after another: the next one when the one before is answered. */
export class RequestReader {
  /** Of the latest request that is complete. */
  readonly requestEnd: RequestEnd = new RequestEnd();
  readonly #socket: Socket;
  readonly #owner: ReaderOwner;
  readonly #parser: RequestParser;
  readonly #watchdog: Watchdog;
  /** Bytes that belong to later requests. */
  #backlog: Buffer | undefined;
  #awaited: Awaited = 'head';
  #reading = true;
  #parsing = false;

  constructor(socket: Socket, owner: ReaderOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#parser = createRequestParser(owner, { headBytes: owner.limits.headerBytes });
    this.#watchdog = new Watchdog(owner.clock, () => owner.late(this.#awaited));
    this.await('head', owner.limits.headerTimeoutMs);
  }

  /** The bytes can no longer be told apart. */
  get faulted(): boolean {
    return this.#parser.faulted;
  }

  get headStarted(): boolean {
    return this.#parser.headStarted;
  }

  /** A request arrived, whole or in part, that nobody has seen yet. */
  get hasBacklog(): boolean {
    return this.#backlog !== undefined;
  }

  receive(chunk: Buffer): void {
    const owner = this.#owner;
    // A backlog, or an answer that the client does not take, comes first: answers keep their order.
    if (this.#backlog !== undefined || this.#parser.complete || (owner.isBlocked && owner.exchange === undefined)) {
      return this.#queue(chunk);
    }
    this.#parse(chunk);
    if (owner.exchange === undefined && this.#parser.complete) this.advance();
  }

  /** The request was answered: on to the next one, unless this is called from within the reading of one. */
  answered(): void {
    this.calm();
    if (!this.#parsing) this.advance();
  }

  /** On to the next request, which may have arrived already. */
  readonly advance = (): void => {
    const owner = this.#owner;
    for (let count = 0; owner.exchange === undefined && !owner.isOver; count += 1) {
      if (this.#parser.complete) this.#parser.next();
      // It could have any number of answers made and take none.
      if (owner.isBlocked) return;
      const backlog = this.#backlog;
      if (backlog === undefined) return this.#awaitNext();
      // Others are served, too.
      if (count === AT_ONCE_COUNT) {
        setImmediate(this.advance);
        return;
      }
      this.#backlog = undefined;
      this.#parse(backlog);
      if (!this.#parser.complete) break;
    }
    if (owner.isOver) return;
    if (owner.exchange === undefined) this.#awaitNext();
    // The FIN came while an earlier request was being answered: the rest of this body will never come.
    else if (owner.isHalfClosed && this.#parser.inBody) owner.exhausted();
  };

  /** Goes on reading, or stops, as the current request wants it. */
  update(): void {
    const { exchange } = this.#owner;
    // Reading goes on while a request waits for its answer: it is how a client that leaves is noticed.
    const wanted =
      exchange === undefined || exchange.requestComplete
        ? (this.#backlog?.length ?? 0) < PIPELINE_BYTES
        : exchange.wantsBody;
    if (wanted === this.#reading) return;
    this.#reading = wanted;
    if (wanted) this.#socket.resume();
    else this.#socket.pause();
    if (wanted && this.#parser.inBody) this.#armBody();
    else if (this.#parser.inBody) this.calm();
  }

  /** In a drain: nothing is asked for, and soon nothing can be. */
  drain(idleMs: number): void {
    if (this.#owner.exchange === undefined && !this.#parser.headStarted) this.await('next-request', idleMs);
  }

  /** 0 switches a limit off. */
  await(what: Awaited, limitMs: number): void {
    this.#awaited = what;
    this.#watchdog.set(limitMs === 0 ? Infinity : this.#owner.clock.nowMs() + limitMs);
  }

  /** Nothing is awaited. */
  calm(): void {
    this.#watchdog.set(Infinity);
  }

  /** Nothing more is read as a request. Returns what arrived and was not read. */
  release(): Buffer | undefined {
    const rest = this.#backlog;
    this.stop();
    return rest;
  }

  /** Forgets what was not read. */
  drop(): void {
    this.#backlog = undefined;
  }

  stop(): void {
    this.drop();
    this.#watchdog.stop();
  }

  #awaitNext(): void {
    this.update();
    if (this.#owner.isHalfClosed) return this.#owner.exhausted();
    if (!this.#parser.headStarted && !this.#parser.inBody) this.await('next-request', this.#owner.limits.keepAliveMs);
  }

  #parse(chunk: Buffer): void {
    const owner = this.#owner;
    const fresh = !this.#parser.headStarted && !this.#parser.inBody;
    this.#parsing = true;
    const taken = this.#parser.execute(chunk);
    this.#parsing = false;
    if (owner.isOver) return;
    if (this.#parser.complete) this.requestEnd.reached(owner.clock.nowMs());
    if (taken < chunk.length) this.#queue(chunk.subarray(taken));
    if (fresh && owner.exchange === undefined && this.#parser.headStarted) {
      this.await('head', owner.limits.headerTimeoutMs);
    } else if (this.#parser.inBody) this.#armBody();
  }

  #queue(chunk: Buffer): void {
    const backlog = this.#backlog;
    this.#backlog = backlog === undefined ? this.#owner.kept(chunk) : Buffer.concat([backlog, chunk]);
    this.update();
  }

  #armBody(): void {
    if (this.#reading) this.await('body', this.#owner.limits.bodyIdleMs);
  }
}
