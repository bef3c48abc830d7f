import type { Dispatcher } from 'undici';
import type { FieldList } from '../http1/message.ts';

/** What the controller of a request acts on. */
export interface ControlledRequest {
  abort(reason: Error | undefined): void;
  resume(): void;
}

/** One for a request, whichever attempt of it is under way: who holds it need not know of retries. */
export class DispatchController implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** Of the latest response head, and of the trailers. */
  fields: FieldList | undefined;
  trailerFields: FieldList | undefined;
  /** The head's as undici below gave them; they come before `fields`. */
  raw: readonly Buffer[] | undefined;

  #request: ControlledRequest | undefined;

  constructor(request: ControlledRequest) {
    this.#request = request;
  }

  /** In order, with repeats, as undici's own: made only where somebody asks. */
  get rawHeaders(): Buffer[] | null {
    if (this.raw !== undefined) return this.raw as Buffer[];
    return this.fields === undefined ? null : rawFields(this.fields);
  }

  get rawTrailers(): Buffer[] | null {
    return this.trailerFields === undefined ? null : rawFields(this.trailerFields);
  }

  abort(reason?: Error): void {
    if (!this.aborted) this.#request?.abort(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.#request?.resume();
  }

  /**
   * The request is over: nothing is left to act on. A response that somebody keeps, or that waits for the collector in a chain of
   * others, holds on to its controller; it must not hold on to all that was done for its request.
   */
  release(): void {
    this.#request = undefined;
  }
}

function rawFields(fields: FieldList): Buffer[] {
  return fields.map((text) => Buffer.from(text, 'latin1'));
}
