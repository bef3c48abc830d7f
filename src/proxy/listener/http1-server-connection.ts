import type { Socket } from 'node:net';
import type { FieldList, ParseFault, RequestHead } from '../../http1/message.ts';
import type { Clock } from '../../transport/clock.ts';
import type { TunnelEnd } from '../../transport/tunnel-end.ts';
import { ClientOutput } from './client-output.ts';
import type { OutputOwner } from './client-output.ts';
import { ClientTunnel } from './client-tunnel.ts';
import type { ClientPeer } from '../client-peer.ts';
import { peerOf, resetSocket } from '../client-peer.ts';
import type { ListenerLimits } from '../downstream.ts';
import { DRAIN_IDLE_MS } from '../downstream.ts';
import { Http1Downstream } from './http1-downstream.ts';
import type { DownstreamConnection } from './http1-downstream.ts';
import { LentReads } from './lent-reads.ts';
import { LingeringClose } from './lingering-close.ts';
import { RequestReader } from './request-reader.ts';
import type { Awaited, ReaderOwner } from './request-reader.ts';
import type { ConnectionHost, ServerConnection } from './server-connection.ts';

/** How long what a client still sends after its last answer is read and thrown away, in milliseconds. */
const LINGER_MS = 2_000;

/** One client connection of our own listener: requests one after another, answered in their order. */
export class Http1ServerConnection implements ServerConnection, ReaderOwner, DownstreamConnection, OutputOwner {
  readonly peer: ClientPeer;
  readonly output: ClientOutput;
  exchange: Http1Downstream | undefined;
  isHalfClosed = false;

  readonly #owner: ConnectionHost;
  readonly #socket: Socket;
  readonly #reader: RequestReader;
  readonly #reads: LentReads;
  #tunnel: ClientTunnel | undefined;
  /** The last answer was given: what still comes is no request. */
  #closing: LingeringClose | undefined;

  constructor(owner: ConnectionHost, socket: Socket) {
    this.#owner = owner;
    this.#socket = socket;
    this.peer = peerOf(socket);
    this.output = new ClientOutput(socket, this);
    this.#reader = new RequestReader(socket, this);
    socket.setNoDelay(true);
    this.#reads = new LentReads(socket, (chunk) => this.#received(chunk));
    // Starts the reading, and takes what a socket delivers that lends no memory.
    socket.on('data', (chunk) => this.#received(chunk));
    socket.on('end', () => this.#halfClose());
    socket.on('error', () => this.#lost());
    socket.on('close', () => this.#lost());
  }

  get clock(): Clock {
    return this.#owner.clock;
  }

  get limits(): ListenerLimits {
    return this.#owner.limits;
  }

  get draining(): boolean {
    return this.#owner.draining;
  }

  get busy(): boolean {
    return this.exchange !== undefined;
  }

  get isBlocked(): boolean {
    return this.output.blocked;
  }

  get isOver(): boolean {
    return this.#closing !== undefined || this.#reader.faulted || this.#socket.destroyed;
  }

  get stuckMs(): number {
    return this.limits.bodyIdleMs;
  }

  /** Closes the connection after its next answer, or soon when none is asked for. */
  drain(): void {
    this.#reader.drain(DRAIN_IDLE_MS);
  }

  // --- from the socket ---------------------------------------------------------------------------------------------

  #received(chunk: Buffer): void {
    if (this.#closing !== undefined) this.#closing.discard(chunk);
    else if (this.#tunnel === undefined) this.#reader.receive(chunk);
    else this.#tunnel.received(this.kept(chunk));
  }

  #halfClose(): void {
    this.isHalfClosed = true;
    const { exchange } = this;
    if (this.#closing !== undefined) return this.#closing.halfClose();
    if (this.#tunnel !== undefined) return this.#tunnel.halfClosed();
    if (exchange === undefined) {
      if (!this.#reader.hasBacklog) this.destroy();
      return;
    }
    if (!exchange.requestComplete || !this.#reader.requestEnd.isHalfClose(this.clock.nowMs())) this.destroy();
  }

  #lost(): void {
    if (!this.#socket.destroyed) this.#socket.destroy();
    this.#reader.stop();
    this.output.stop();
    const { exchange } = this;
    this.exchange = undefined;
    this.#owner.connectionClosed(this);
    // A tunnel that both sides closed: its exchange ends when the upstream has taken the last bytes.
    if (this.#tunnel?.isOver === true) return;
    if (exchange !== undefined && !exchange.ended) {
      exchange.ended = true;
      exchange.listener.gone();
    }
  }

  // --- from the output ---------------------------------------------------------------------------------------------

  drained(): void {
    if (this.#tunnel !== undefined) this.#tunnel.drained();
    else if (this.exchange === undefined) this.#reader.advance();
    else this.exchange.listener.drained();
  }

  stuck(): void {
    this.destroy();
  }

  // --- from the reader ---------------------------------------------------------------------------------------------

  kept(chunk: Buffer): Buffer {
    return this.#reads.kept(chunk);
  }

  onHead(head: RequestHead): void {
    this.#reader.calm();
    const exchange = new Http1Downstream(this, head);
    this.exchange = exchange;
    this.#owner.sink.request(exchange);
    this.updateReading();
  }

  onData(chunk: Buffer): void {
    this.exchange?.bodyChunk(this.kept(chunk));
  }

  onComplete(trailers: FieldList): void {
    this.#reader.calm();
    this.exchange?.bodyEnd(trailers);
  }

  onFault(fault: ParseFault): void {
    const { exchange } = this;
    if (exchange !== undefined) return exchange.bodyFault('http_request_error', fault.message);
    this.#refuse(fault.status, fault.message);
  }

  exhausted(): void {
    this.destroy();
  }

  late(what: Awaited): void {
    switch (what) {
      case 'head':
        if (this.#reader.headStarted) return this.#refuse(408, 'The request head did not arrive in time.');
        return this.destroy();
      case 'body':
        this.exchange?.bodyFault('downstream_timeout', 'the request body stood still for too long');
        return;
      case 'next-request':
      case 'last-bytes':
        return this.destroy();
    }
  }

  // --- from the exchange -------------------------------------------------------------------------------------------

  updateReading(): void {
    this.#reader.update();
  }

  becomeTunnel(): TunnelEnd {
    this.#tunnel = new ClientTunnel(this.#socket, this.output, this.#reader.release(), this.isHalfClosed);
    return this.#tunnel;
  }

  responded(close: boolean): void {
    this.exchange = undefined;
    if (this.#socket.destroyed) return;
    if (close || this.draining) this.#finish();
    else this.#reader.answered();
  }

  destroy(): void {
    this.#socket.destroy();
    this.#lost();
  }

  /** The process ends: a request under way is told so, as far as that is still possible. */
  cut(): void {
    this.exchange?.listener.cut();
    this.destroy();
  }

  reset(): void {
    resetSocket(this.#socket);
    this.#lost();
  }

  /** The answer is the last one. */
  #finish(): void {
    this.#reader.calm();
    this.#reader.drop();
    const wait = (): void => this.#reader.await('last-bytes', LINGER_MS);
    this.#closing = new LingeringClose(this.#socket, this.isHalfClosed, () => this.destroy(), wait);
  }

  #refuse(status: number, detail: string): void {
    const exchange = new Http1Downstream(this, NO_HEAD);
    this.exchange = exchange;
    this.#owner.sink.refused(exchange, status, detail);
  }
}

/** Stands for a request that could not be read. */
const NO_HEAD: RequestHead = {
  versionMinor: 1,
  method: '',
  target: '',
  fields: [],
  bodyKind: 'none',
  contentLength: -1,
  keepAlive: false,
  expectContinue: false,
  upgrade: false,
};
