import type { ParserLimits } from '../../http1/message.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Connect } from '../connect.ts';
import type { ConnectionClaimant } from './connection-user.ts';
import { failureFromError, failureFromTimeout, internalFailure } from '../failure-from-error.ts';
import { Http1Connection } from './http1-connection.ts';
import type { ConnectionOwner } from './http1-connection.ts';
import type { PoolOwner, PoolStats } from '../pool.ts';
import type { EndpointAddress } from '../transport.ts';

export interface PoolOptions {
  readonly clock: Clock;
  readonly connect: Connect;
  readonly limits: Partial<ParserLimits>;
  /** Longest time in milliseconds a connection waits for its next request. Default 50 000. */
  readonly idleMs: number;
  /** Most connections to one endpoint, those being established included, ≥ 1. Default 256. */
  readonly maxConnections: number;
  /** Most requests that wait for one of them, ≥ 0. Default 1024. */
  readonly maxWaiting: number;
  /** Requests after which a connection is closed; 0 for no limit. Default 0. */
  readonly maxRequestsPerConnection: number;
}

interface Waiter {
  readonly claimant: ConnectionClaimant;
  readonly connectMs: number;
  readonly fresh: boolean;
  timer: Timer | undefined;
}

/** The connections to one endpoint. The one used last is taken first, so that the others can become old and go. */
export class ConnectionPool implements ConnectionOwner {
  readonly endpoint: EndpointAddress;
  readonly #options: PoolOptions;
  readonly #owner: PoolOwner;
  readonly #idle: Http1Connection[] = [];
  readonly #connections = new Set<Http1Connection>();
  readonly #waiting: Waiter[] = [];
  #closing = false;
  #serving = false;

  constructor(endpoint: EndpointAddress, options: PoolOptions, owner: PoolOwner) {
    this.endpoint = endpoint;
    this.#options = options;
    this.#owner = owner;
  }

  /** No connection, and nobody waits for one. */
  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#waiting.length === 0;
  }

  get stats(): PoolStats {
    return { open: this.#connections.size, idle: this.#idle.length, waiting: this.#waiting.length };
  }

  /** Gives the claimant a connection, now or later. `fresh`: one that has carried nothing. Failures come asynchronously. */
  acquire(claimant: ConnectionClaimant, connectMs: number, fresh: boolean): void {
    if (this.#waiting.length > 0) {
      this.#enqueue(claimant, connectMs, fresh);
      return;
    }
    if (!this.#serve(claimant, connectMs, fresh)) this.#enqueue(claimant, connectMs, fresh);
  }

  /** The claimant no longer waits in the queue. (One that is connecting destroys its connection.) */
  cancel(claimant: ConnectionClaimant): void {
    const index = this.#waiting.findIndex((waiter) => waiter.claimant === claimant);
    if (index < 0) return;
    this.#waiting[index]?.timer?.cancel();
    this.#waiting.splice(index, 1);
  }

  /** The exchange on it ended cleanly, or never began. */
  release(connection: Http1Connection): void {
    const idleLimitMs = Math.min(this.#options.idleMs, usableIdleMs(connection.advertisedIdleMs));
    const { maxRequestsPerConnection } = this.#options;
    const worn = maxRequestsPerConnection > 0 && connection.requestCount >= maxRequestsPerConnection;
    if (this.#closing || worn || !(idleLimitMs > 0)) {
      connection.destroy();
      return;
    }
    connection.becomeIdle(this.#options.clock.nowMs(), idleLimitMs);
    this.#idle.push(connection);
    if (this.#waiting.length > 0) this.#serveWaiting();
  }

  /** Idle connections close now, busy ones when their exchange ends. Requests that still come get connections of their own. */
  close(): void {
    this.#closing = true;
    for (const connection of this.#idle.slice()) connection.destroy();
  }

  onGone(connection: Http1Connection): void {
    this.#connections.delete(connection);
    const index = this.#idle.lastIndexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#waiting.length > 0) this.#serveWaiting();
  }

  onSocketClosed(): void {
    this.#owner.socketClosed();
  }

  #serve(claimant: ConnectionClaimant, connectMs: number, fresh: boolean): boolean {
    const nowMs = this.#options.clock.nowMs();
    if (!fresh) {
      for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
        // After a blocked event loop its timer may be late; the server's is not.
        if (nowMs - connection.idleSinceMs < connection.idleLimitMs) {
          connection.reserve(claimant, nowMs);
          return true;
        }
        connection.destroy();
      }
    }
    if (this.#connections.size >= this.#options.maxConnections) {
      const oldest = this.#idle.shift();
      if (oldest === undefined) return false;
      oldest.destroy();
    }
    this.#dial(claimant, connectMs);
    return true;
  }

  #dial(claimant: ConnectionClaimant, connectMs: number): void {
    try {
      const connection = new Http1Connection(this.endpoint, this.#options, this, claimant, connectMs);
      this.#connections.add(connection);
      this.#owner.socketOpened();
      claimant.onConnecting(connection);
    } catch (error) {
      const failure = failureFromError(error, { ...this.#site('connect'), context: `connect to ${this.endpoint.key}` });
      process.nextTick(() => claimant.onNoConnection(failure));
    }
  }

  #enqueue(claimant: ConnectionClaimant, connectMs: number, fresh: boolean): void {
    const { maxWaiting, maxConnections, clock } = this.#options;
    if (this.#waiting.length >= maxWaiting) {
      const message = `all ${String(maxConnections)} connections to ${this.endpoint.key} are busy and ${String(maxWaiting)} requests wait; raise maxConnections or send less`;
      const failure = internalFailure('connection_limit_reached', message, this.#site('select'));
      process.nextTick(() => claimant.onNoConnection(failure));
      return;
    }
    const waiter: Waiter = { claimant, connectMs, fresh, timer: undefined };
    this.#waiting.push(waiter);
    if (connectMs > 0) waiter.timer = clock.setTimer(connectMs, () => this.#onWaitedTooLong(waiter));
  }

  #onWaitedTooLong(waiter: Waiter): void {
    this.cancel(waiter.claimant);
    const context = `wait for one of ${String(this.#options.maxConnections)} connections to ${this.endpoint.key}`;
    waiter.claimant.onNoConnection(failureFromTimeout('queue', waiter.connectMs, { ...this.#site('select'), context }));
  }

  #serveWaiting(): void {
    // Making room closes connections, which reports back here: the loop below sees to it.
    if (this.#serving) return;
    this.#serving = true;
    for (let waiter = this.#waiting[0]; waiter !== undefined; waiter = this.#waiting[0]) {
      if (!this.#serve(waiter.claimant, waiter.connectMs, waiter.fresh)) break;
      waiter.timer?.cancel();
      this.#waiting.shift();
    }
    this.#serving = false;
  }

  #site(phase: 'select' | 'connect'): Parameters<typeof failureFromError>[1] {
    return { phase, reused: false, bytesSent: 0, bytesReceived: 0 };
  }
}

/**
 * How long a connection may idle when its server closes it after `advertisedMs`: a second or a tenth less, whichever is
 * more, so that a request never meets the server's close on its way. ≤ 0: not at all.
 */
function usableIdleMs(advertisedMs: number): number {
  return advertisedMs < 0 ? Infinity : advertisedMs - Math.max(1000, advertisedMs / 10);
}
