import type { FieldList } from '../../http1/message.ts';
import type { Clock, Timer } from '../../transport/clock.ts';
import type { ReplayMemory } from '../../transport/body/replay-memory.ts';
import type { BodySource } from '../../transport/body/request-body.ts';
import type { Mirror, RequestCopy } from './mirror.ts';
import { copyLifeMs } from './mirror.ts';

export interface CopyOptions {
  readonly mirrors: readonly Mirror[];
  /** Largest body that is copied. */
  readonly capBytes: number;
  /** Of all copies in making together. */
  readonly memory: ReplayMemory;
  readonly clock: Clock;
}

/**
 * Puts together the copy of one request: the head as its first attempt sends it, and the body as it passes by. A body
 * over the cap or the memory, and one that does not come whole within the life of a copy, has no copy.
 */
export class CopyInMaking {
  readonly #options: CopyOptions;
  #head: Omit<RequestCopy, 'body'> | undefined;
  #chunks: Buffer[] | undefined;
  #bytes = 0;
  #state: 'no-body' | 'reading' | 'whole' | 'over' = 'no-body';
  #timer: Timer | undefined;

  constructor(options: CopyOptions) {
    this.#options = options;
  }

  /** The same source; what it gives is noted on the way. */
  tap(source: BodySource): BodySource {
    this.#state = 'reading';
    this.#chunks = [];
    // Nobody says when a body is left half read: after an early answer, say.
    this.#timer = this.#options.clock.setTimer(copyLifeMs, () => this.#end());
    this.#timer.unref();
    return {
      start: (sink) =>
        source.start({
          chunk: (chunk) => {
            this.#keep(chunk);
            sink.chunk(chunk);
          },
          end: (trailers) => {
            sink.end(trailers);
            if (this.#state === 'reading') this.#state = 'whole';
            this.#sendIfReady();
          },
          fail: (failure) => {
            this.#end();
            sink.fail(failure);
          },
        }),
      pause: () => source.pause(),
      resume: () => source.resume(),
    };
  }

  /** The first attempt's request; later ones are not copied. */
  head(request: { readonly method: string; readonly path: string; readonly fields: Readonly<FieldList> }): void {
    if (this.#head !== undefined) return;
    this.#head = { method: request.method, target: request.path, fields: [...request.fields] };
    this.#sendIfReady();
  }

  #keep(chunk: Buffer): void {
    if (this.#state !== 'reading') return;
    const { capBytes, memory } = this.#options;
    if (this.#bytes + chunk.length > capBytes || !memory.tryReserve(chunk.length)) return this.#end();
    this.#bytes += chunk.length;
    this.#chunks?.push(chunk);
  }

  #sendIfReady(): void {
    const head = this.#head;
    if (head === undefined || this.#state === 'reading' || this.#state === 'over') return;
    const body = this.#chunks === undefined ? undefined : Buffer.concat(this.#chunks);
    this.#end();
    for (const mirror of this.#options.mirrors) mirror.send({ ...head, body });
  }

  #end(): void {
    this.#state = 'over';
    this.#chunks = undefined;
    this.#options.memory.release(this.#bytes);
    this.#bytes = 0;
    this.#timer?.cancel();
  }
}
