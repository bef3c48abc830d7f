import type { Failure } from '../../core/failure.ts';
import type { Timer } from '../clock.ts';
import type { PoolOwner, PoolStats } from '../pool.ts';
import { failureFromError, failureFromTimeout, internalFailure, protocolFailure } from '../failure-from-error.ts';
import { Http2Session } from './http2-session.ts';
import type { SessionOptions, SessionOwner, SessionUser } from './http2-session-owner.ts';
import type { EndpointAddress } from '../transport.ts';

export interface Http2PoolOptions extends SessionOptions {
  readonly maxConnections: number;
  readonly maxWaiting: number;
  readonly maxRequestsPerConnection: number;
}

/** Who wants to open a stream. */
export interface SessionClaimant extends SessionUser {
  /** A place on the session is this claimant's until it leaves. `reused`: it had carried requests before. */
  onSession(session: Http2Session, reused: boolean): void;
  onNoSession(failure: Failure): void;
  /** The peer speaks HTTP/1.1. */
  onHttp1(): void;
}

interface Waiter {
  readonly claimant: SessionClaimant;
  readonly connectMs: number;
  /** The lowest number of a session that will do. */
  readonly from: number;
  /** The session that is being established for it, among others. */
  dial: Http2Session | undefined;
  timer: Timer | undefined;
}

/** Streams that a peer may be expected to allow before it has said so (RFC 9113 §6.5.2 asks for no fewer). */
const expectedStreams = 100;
const noAgreement = 'the peer did not agree to HTTP/2 in the TLS handshake (ALPN)';
const unsent = { phase: 'select', reused: false, bytesSent: 0, bytesReceived: 0 } as const;

/** The sessions to one endpoint, filled one after the other; another one is opened when all are full. */
export class Http2Pool implements SessionOwner {
  readonly endpoint: EndpointAddress;
  readonly #options: Http2PoolOptions;
  readonly #owner: PoolOwner;
  readonly #speaksHttp1Too: boolean;
  readonly #sessions = new Set<Http2Session>();
  readonly #waiting: Waiter[] = [];
  #dialCount = 0;
  #closing = false;

  constructor(endpoint: EndpointAddress, options: Http2PoolOptions, owner: PoolOwner, speaksHttp1Too: boolean) {
    this.endpoint = endpoint;
    this.#options = options;
    this.#owner = owner;
    this.#speaksHttp1Too = speaksHttp1Too;
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0 && this.#waiting.length === 0;
  }

  get stats(): PoolStats {
    let idle = 0;
    for (const session of this.#sessions) if (session.isOpen && session.userCount === 0) idle += 1;
    return { open: this.#sessions.size, idle, waiting: this.#waiting.length };
  }

  /** Gives the claimant a place, now or later. `fresh`: on a session that has carried nothing. Failures come asynchronously. */
  acquire(claimant: SessionClaimant, connectMs: number, fresh: boolean): void {
    const session = this.#waiting.length > 0 && !fresh ? undefined : this.#withRoom(fresh);
    if (session !== undefined) return this.#assign(session, claimant, session.requestCount > 0);
    const { maxWaiting, maxConnections, clock } = this.#options;
    if (this.#waiting.length >= maxWaiting) {
      const message = `all streams of ${String(maxConnections)} connections to ${this.endpoint.key} are taken and ${String(maxWaiting)} requests wait; raise maxConnections or send less`;
      const failure = internalFailure('connection_limit_reached', message, unsent);
      process.nextTick(() => claimant.onNoSession(failure));
      return;
    }
    const waiter: Waiter = {
      claimant,
      connectMs,
      from: fresh ? (this.#connecting()?.number ?? this.#dialCount + 1) : 0,
      dial: undefined,
      timer: undefined,
    };
    this.#waiting.push(waiter);
    if (connectMs > 0) waiter.timer = clock.setTimer(connectMs, () => this.#onWaitedTooLong(waiter));
    this.#dialFor([waiter]);
  }

  /** The claimant no longer waits. */
  cancel(claimant: SessionClaimant): void {
    const waiter = this.#waiting.find((one) => one.claimant === claimant);
    if (waiter !== undefined) this.#remove(waiter);
  }

  /** The claimant's stream is closed, or was never opened. */
  release(session: Http2Session, user: SessionUser): void {
    const { maxRequestsPerConnection } = this.#options;
    session.leave(user);
    if (maxRequestsPerConnection > 0 && session.requestCount >= maxRequestsPerConnection) session.drain();
    this.#serve();
  }

  close(): void {
    this.#closing = true;
    for (const session of [...this.#sessions]) session.drain();
  }

  onReady(session: Http2Session): void {
    for (const waiter of this.#waiting) if (waiter.dial === session) waiter.dial = undefined;
    this.#serve(session.requestCount === 0 ? session : undefined);
    // In the middle of closing, those who waited are served, and nobody after them.
    if (this.#closing) session.drain();
    this.#dialFor(this.#waiting.filter((waiter) => waiter.dial === undefined));
  }

  onNotReady(session: Http2Session, failure: Failure | undefined): void {
    const concerned = this.#waiting.filter((waiter) => waiter.dial === session);
    for (const waiter of concerned) this.#remove(waiter);
    for (const { claimant } of concerned) {
      if (failure === undefined && this.#speaksHttp1Too) claimant.onHttp1();
      else claimant.onNoSession(failure ?? protocolFailure(noAgreement, { ...session.site, phase: 'tls' }));
    }
  }

  onDraining(session: Http2Session): void {
    if (!this.#sessions.delete(session)) return;
    this.#serve();
    this.#dialFor(this.#waiting.filter((waiter) => waiter.dial === undefined));
  }

  onSocketClosed(): void {
    this.#owner.socketClosed();
  }

  #assign(session: Http2Session, claimant: SessionClaimant, reused: boolean): void {
    session.enter(claimant);
    claimant.onSession(session, reused);
  }

  #withRoom(unused: boolean, from = 0): Http2Session | undefined {
    for (const session of this.#sessions)
      if (session.hasRoom && session.number >= from && (!unused || session.requestCount === 0)) return session;
    return undefined;
  }

  #connecting(): Http2Session | undefined {
    for (const session of this.#sessions) if (session.isConnecting) return session;
    return undefined;
  }

  /** @param opened Just became ready: for those who waited, it is a connection of their own. */
  #serve(opened?: Http2Session): void {
    for (let at = 0; at < this.#waiting.length;) {
      const waiter = this.#waiting[at]!;
      const session = this.#withRoom(false, waiter.from);
      if (session === undefined) at += 1;
      else {
        this.#remove(waiter);
        this.#assign(session, waiter.claimant, session !== opened && session.requestCount > 0);
      }
    }
  }

  /** Opens sessions until each of these has one to hope for, where it makes sense. */
  #dialFor(waiters: readonly Waiter[]): void {
    for (const waiter of waiters) {
      if (!this.#waiting.includes(waiter)) continue;
      const joined = this.#joinable(waiter.from) ?? this.#dial(waiter);
      if (joined === undefined) return;
      waiter.dial = joined;
    }
  }

  #joinable(from: number): Http2Session | undefined {
    for (const session of this.#sessions) {
      if (!session.isConnecting || session.number < from) continue;
      let count = 0;
      for (const { dial } of this.#waiting) if (dial === session) count += 1;
      if (count < expectedStreams) return session;
    }
    return undefined;
  }

  #dial(waiter: Waiter): Http2Session | undefined {
    // A peer that allows no stream at all says "not now": more connections would not change its mind.
    for (const session of this.#sessions) if (session.isOpen && session.maxStreams === 0) return undefined;
    if (this.#sessions.size >= this.#options.maxConnections) return undefined;
    try {
      this.#dialCount += 1;
      const session = new Http2Session(this.endpoint, this.#dialCount, this.#options, this);
      this.#sessions.add(session);
      this.#owner.socketOpened();
      return session;
    } catch (error) {
      const failure = failureFromError(error, {
        ...unsent,
        phase: 'connect',
        context: `connect to ${this.endpoint.key}`,
      });
      this.#remove(waiter);
      process.nextTick(() => waiter.claimant.onNoSession(failure));
      return undefined;
    }
  }

  #remove(waiter: Waiter): void {
    waiter.timer?.cancel();
    const index = this.#waiting.indexOf(waiter);
    if (index >= 0) this.#waiting.splice(index, 1);
    const { dial } = waiter;
    // A connection that nobody waits for any more is not worth its handshake.
    if (dial?.isConnecting === true && !this.#waiting.some((other) => other.dial === dial)) dial.destroy();
  }

  #onWaitedTooLong(waiter: Waiter): void {
    const { dial, connectMs, claimant } = waiter;
    const context = `wait for a stream to ${this.endpoint.key}`;
    const failure =
      dial === undefined
        ? failureFromTimeout('queue', connectMs, { ...unsent, context })
        : failureFromTimeout('connect', connectMs, dial.site);
    this.#remove(waiter);
    claimant.onNoSession(failure);
  }
}
