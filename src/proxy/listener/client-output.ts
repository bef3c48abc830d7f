import type { Socket } from 'node:net';
import type { Clock } from '../../transport/clock.ts';
import { Watchdog } from '../../transport/watchdog.ts';

export interface OutputOwner {
  /** Milliseconds without progress after which the client counts as stuck; 0 switches the limit off. */
  readonly stuckMs: number;
  readonly clock: Clock;
  /** The system took everything, after it had not. */
  drained(): void;
  stuck(): void;
}

/** What is written to a client, and whether the system takes it. */
export class ClientOutput {
  /** The system has not taken everything that was written. */
  blocked = false;
  readonly #socket: Socket;
  readonly #owner: OutputOwner;
  readonly #watchdog: Watchdog;

  constructor(socket: Socket, owner: OutputOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#watchdog = new Watchdog(owner.clock, () => owner.stuck());
  }

  /** Returns whether the system took everything; if not, what was given must stay as it is until it is drained. */
  write(data: Buffer | string): boolean {
    this.#give(data);
    return this.#isTaken();
  }

  /** The same for parts that leave in one system call. */
  writeTogether(before: string, chunk: Buffer, after: string): boolean {
    this.#socket.cork();
    this.#give(before);
    this.#give(chunk);
    if (after !== '') this.#give(after);
    this.#socket.uncork();
    return this.#isTaken();
  }

  stop(): void {
    this.#watchdog.stop();
  }

  /** One for all writes: the system took what was given, or the socket is broken, which its own events tell. */
  readonly #onTaken = (error?: Error | null): void => {
    if (!this.blocked || this.#socket.writableLength > 0 || (error !== undefined && error !== null)) return;
    this.blocked = false;
    this.#watchdog.set(Infinity);
    this.#owner.drained();
  };

  #give(data: Buffer | string): void {
    if (typeof data === 'string') this.#socket.write(data, 'latin1', this.#onTaken);
    else this.#socket.write(data, this.#onTaken);
  }

  /** Node tries to write at once; what is left then waits in the socket, and so does whoever writes. */
  #isTaken(): boolean {
    if (this.#socket.writableLength === 0) return true;
    this.blocked = true;
    const { stuckMs, clock } = this.#owner;
    this.#watchdog.set(stuckMs === 0 ? Infinity : clock.nowMs() + stuckMs);
    return false;
  }
}
