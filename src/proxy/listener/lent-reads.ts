import type { Socket } from 'node:net';

/** What the system hands over at most in one read. */
const READ_BYTES = 65_536;

/** Where the reads of all clients end, one after another. */
let memory: Buffer | undefined;

/** Where `net.connect` leaves what its option `onread` says. An accepted socket has the places, and no such option. */
interface Places {
  readonly memory: symbol;
  readonly callback: symbol;
}

type Readable = Socket & Record<symbol, unknown> & { readonly _handle?: { useUserBuffer?(memory: Buffer): void } };

/**
 * What a client sends, read into memory that all connections share. Otherwise each read takes 64 KB from the system, cuts them
 * to size, and leaves them to the collector: of a small request that is about a sixth of all its time.
 *
 * It is not in Node's documentation. Where a version of Node has nothing of the kind, the socket's `data` events go on.
 */
export class LentReads {
  #isReading = false;

  /** @param receive Gets each read in place of `data` events. What it does not copy by `kept` is overwritten by the next one. */
  constructor(socket: Socket, receive: (chunk: Buffer) => void) {
    const places = placesOf(socket);
    const { _handle: handle } = socket as Readable;
    if (places === undefined || typeof handle?.useUserBuffer !== 'function') return;
    memory ??= Buffer.allocUnsafeSlow(READ_BYTES);
    const lent = memory;
    const onRead = (length: number): void => {
      this.#isReading = true;
      receive(lent.subarray(0, length));
      this.#isReading = false;
    };
    Object.assign(socket, { [places.memory]: lent, [places.callback]: onRead });
    handle.useUserBuffer(lent);
  }

  /** These bytes of a read, as they stay when the next one comes. */
  kept(chunk: Buffer): Buffer {
    return this.#isReading ? Buffer.from(chunk) : chunk;
  }
}

let known: Places | undefined;

function placesOf(socket: Socket): Places | undefined {
  if (known !== undefined) return known;
  const symbols = Object.getOwnPropertySymbols(socket);
  const named = (name: string): symbol | undefined => symbols.find(({ description }) => description === name);
  const buffer = named('kBuffer');
  const callback = named('kBufferCb');
  if (buffer === undefined || callback === undefined) return undefined;
  known = { memory: buffer, callback };
  return known;
}
