import type { Failure } from '../../core/failure.ts';
import { isIdempotent } from '../../core/safety.ts';
import type { ResponseHead } from '../../http1/message.ts';
import type { Clock } from '../clock.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { ConnectionClaimant } from './connection-user.ts';
import { failureFromClose, failureFromError, internalFailure } from '../failure-from-error.ts';
import type { FailureSite } from '../failure-from-error.ts';
import type { Http1Connection } from './http1-connection.ts';
import { Http1Exchange } from './http1-exchange.ts';
import { Http1Tunnel } from './http1-tunnel.ts';
import { suspectIdleMs } from '../suspect-idle.ts';
import type { Attempt, AttemptHandler, AttemptRequest, SendOptions } from '../transport.ts';

/** One attempt, as its sender holds it: finds a connection, announces it, and runs the exchange on it. */
export class Http1Attempt implements Attempt, ConnectionClaimant {
  reused = false;
  readonly #poolOf: () => ConnectionPool;
  readonly #clock: Clock;
  readonly #request: AttemptRequest;
  readonly #head: string;
  readonly #handler: AttemptHandler;
  readonly #options: SendOptions;
  #pool: ConnectionPool | undefined;
  /** Claimed and not yet given to the exchange. */
  #connection: Http1Connection | undefined;
  #exchange: Http1Exchange | undefined;
  #tunnel: Http1Tunnel | undefined;
  #announced = false;
  #done = false;

  /** `head`: the text of the request head, ready to be written. */
  constructor(
    poolOf: () => ConnectionPool,
    clock: Clock,
    request: AttemptRequest,
    head: string,
    handler: AttemptHandler,
    options: SendOptions,
  ) {
    this.#poolOf = poolOf;
    this.#clock = clock;
    this.#request = request;
    this.#head = head;
    this.#handler = handler;
    this.#options = options;
  }

  get bytesSent(): number {
    return (this.#exchange ?? this.#tunnel)?.bytesSent ?? 0;
  }

  get bytesReceived(): number {
    return (this.#exchange ?? this.#tunnel)?.bytesReceived ?? 0;
  }

  start(): void {
    const { timeouts, freshConnection } = this.#options;
    this.#pool = this.#poolOf();
    this.#pool.acquire(this, timeouts.connectMs, freshConnection || this.#request.tunnel === true);
  }

  resume(): void {
    this.#exchange?.resume();
  }

  abort(): void {
    const begun = this.#exchange ?? this.#tunnel;
    if (begun !== undefined) {
      begun.abort();
      return;
    }
    if (this.#done) return;
    this.#done = true;
    if (this.#connection === undefined) this.#pool?.cancel(this);
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  onConnecting(connection: Http1Connection): void {
    this.#connection = connection;
  }

  onNoConnection(failure: Failure): void {
    if (!this.#done) this.#fail(failure);
  }

  onConnection(connection: Http1Connection, idleForMs: number): void {
    this.#connection = connection;
    this.reused = connection.requestCount > 0;
    // A pooled connection comes before `send` has returned, and its sender has no handle yet; and see suspectIdleMs.
    if (idleForMs < 0) this.announce(connection);
    else if (idleForMs < suspectIdleMs && isIdempotent(this.#request.method))
      process.nextTick(announceLater, this, connection);
    else setImmediate(lookAgain, this, connection);
  }

  onConnectionLost(error: Error | undefined): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.destroy();
    if (this.#done) return;
    if (this.#announced) {
      const site = this.#site(connection);
      this.#fail(error === undefined ? failureFromClose(site) : failureFromError(error, site));
    } else {
      // Nothing was written and nobody was told of this connection: another one takes its place.
      this.reused = false;
      this.start();
    }
  }

  announce(connection: Http1Connection): void {
    if (this.#done || this.#announced || this.#connection !== connection) return;
    this.#announced = true;
    let held: void | Promise<void>;
    try {
      held = this.#handler.onConnected(connection.info(this.reused));
    } catch (error) {
      this.#onHookFailed(error);
      return;
    }
    if (held === undefined) this.#exchangeMessages();
    else {
      held.then(
        () => this.#exchangeMessages(),
        (error: unknown) => this.#onHookFailed(error),
      );
    }
  }

  #exchangeMessages(): void {
    const connection = this.#connection;
    const pool = this.#pool;
    if (this.#done || connection === undefined || pool === undefined) return;
    this.#connection = undefined;
    if (this.#request.tunnel === true) return this.#openTunnel(connection);
    const exchange = new Http1Exchange(
      connection,
      pool,
      this.#clock,
      this.#handler,
      this.#options.timeouts,
      this.reused,
    );
    this.#exchange = exchange;
    exchange.start(this.#request, this.#head);
  }

  #openTunnel(connection: Http1Connection): void {
    const nothing = { bytesSent: 0, bytesReceived: 0, reused: false };
    const { idleMs } = this.#options.timeouts;
    const tunnel = new Http1Tunnel(connection, this.#clock, this.#handler, idleMs, nothing);
    this.#tunnel = tunnel;
    connection.become(tunnel);
    this.#handler.onTunnel?.(TUNNEL_OPEN, tunnel);
  }

  #onHookFailed(error: unknown): void {
    const connection = this.#connection;
    if (this.#done || connection === undefined) return;
    this.#connection = undefined;
    // Nothing was written: the connection is as good as before.
    this.#pool?.release(connection);
    this.#fail(internalFailure('hook_error', 'onConnected failed', this.#site(connection), error));
  }

  #fail(failure: Failure): void {
    this.#done = true;
    this.#connection = undefined;
    this.#handler.onFailure(failure);
  }

  #site(connection: Http1Connection | undefined): FailureSite {
    const context = connection === undefined ? undefined : `before writing to ${connection.endpoint.key}`;
    return { phase: 'send', reused: this.reused, bytesSent: 0, bytesReceived: 0, context };
  }
}

/** Stands for the answer of a server that is asked nothing. */
const TUNNEL_OPEN: ResponseHead = {
  versionMinor: 1,
  status: 200,
  reason: 'OK',
  fields: [],
  bodyKind: 'none',
  contentLength: -1,
  keepAlive: false,
  keepAliveTimeoutMs: -1,
};

/** What arrived after the current poll began is only seen by the next one, so a single turn is not enough. */
function lookAgain(attempt: Http1Attempt, connection: Http1Connection): void {
  setImmediate(announceLater, attempt, connection);
}

function announceLater(attempt: Http1Attempt, connection: Http1Connection): void {
  attempt.announce(connection);
}
