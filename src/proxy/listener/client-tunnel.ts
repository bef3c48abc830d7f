import type { Socket } from 'node:net';
import type { TunnelEnd, TunnelReceiver } from '../../transport/tunnel-end.ts';
import type { ClientOutput } from './client-output.ts';

/** The client's connection after a 101: bytes both ways, and nothing of it is read as a request any more. */
export class ClientTunnel implements TunnelEnd {
  readonly #socket: Socket;
  readonly #output: ClientOutput;
  #receiver: TunnelReceiver | undefined;
  /** What the client sent before it knew whether it may. */
  #early: Buffer | undefined;
  #ended: boolean;

  constructor(socket: Socket, output: ClientOutput, early: Buffer | undefined, ended: boolean) {
    this.#socket = socket;
    this.#output = output;
    this.#early = early;
    this.#ended = ended;
  }

  // --- TunnelEnd ---------------------------------------------------------------------------------------------------

  open(receiver: TunnelReceiver): void {
    this.#receiver = receiver;
    const early = this.#early;
    this.#early = undefined;
    if (early === undefined || receiver.data(early)) this.resume();
    else this.#socket.pause();
    if (this.#ended) receiver.ended();
  }

  write(chunk: Buffer): boolean {
    return this.#output.write(chunk);
  }

  end(): void {
    this.#socket.end();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Both sides said their last byte, and the system took ours. */
  get isOver(): boolean {
    return this.#ended && this.#socket.writableFinished;
  }

  // --- from the connection -----------------------------------------------------------------------------------------

  received(chunk: Buffer): void {
    if (this.#receiver?.data(chunk) === false) this.#socket.pause();
  }

  halfClosed(): void {
    this.#ended = true;
    this.#receiver?.ended();
  }

  drained(): void {
    this.#receiver?.drained();
  }
}
