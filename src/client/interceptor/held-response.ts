import { util } from 'undici';
import type { FieldList } from '../../http1/message.ts';
import type { DispatchController } from '../dispatch-controller.ts';
import type { RequestHandler } from '../dispatch-handler.ts';

/** Who the response belongs to. */
export interface HeldOwner {
  /** Asks the connection for more. */
  more(): void;
  /** Everything was handed over; the handler is told next. */
  finished(): void;
  /** The handler threw. */
  failed(error: unknown): void;
}

/** Brings a response's body to its handler, and nothing while that has paused it: what came meanwhile waits here. */
export class HeldResponse {
  readonly #controller: DispatchController;
  readonly #handler: RequestHandler;
  readonly #owner: HeldOwner;
  #held: Buffer[] = [];
  #trailers: FieldList | undefined;
  #isDraining = false;

  constructor(controller: DispatchController, handler: RequestHandler, owner: HeldOwner) {
    this.#controller = controller;
    this.#handler = handler;
    this.#owner = owner;
  }

  /** Returns false when no more should be read before `resume`. */
  data(chunk: Buffer): boolean {
    if (this.#controller.paused || this.#held.length > 0) {
      this.#held.push(chunk);
      return false;
    }
    this.#handler.onResponseData?.(this.#controller, chunk);
    return !this.#controller.paused;
  }

  end(trailers: FieldList): void {
    this.#trailers = trailers;
    if (!this.#controller.paused && this.#held.length === 0) this.#finish();
  }

  resume(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (!this.#controller.paused && this.#held.length > 0) {
        this.#handler.onResponseData?.(this.#controller, this.#held.shift()!);
      }
    } catch (error) {
      this.#owner.failed(error);
    }
    this.#isDraining = false;
    if (this.#controller.paused || this.#held.length > 0) return;
    if (this.#trailers === undefined) this.#owner.more();
    else this.#finish();
  }

  /** The request failed: nothing follows. */
  discard(): void {
    this.#held = [];
    this.#trailers = undefined;
  }

  #finish(): void {
    const trailers = this.#trailers;
    if (trailers === undefined) return;
    this.#trailers = undefined;
    this.#controller.trailerFields = trailers;
    const parsed = util.parseHeaders(trailers.map((text) => Buffer.from(text, 'latin1')));
    this.#owner.finished();
    try {
      this.#handler.onResponseEnd?.(this.#controller, parsed);
    } catch (error) {
      // What is below has no more to say of this request: nobody else would tell whoever waits for the last word.
      this.#handler.onResponseError(this.#controller, error as Error);
    }
  }
}
