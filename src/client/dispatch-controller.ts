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
  #rawFields: RawFields | undefined;
  #rawTrailers: RawFields | undefined;
  #request: ControlledRequest | undefined;

  constructor(request: ControlledRequest) {
    this.#request = request;
  }

  /**
   * In order, with repeats, as undici's own: made only where somebody asks, and the same list for all who do. An
   * interceptor that decodes a body takes Content-Encoding out of it; whoever reads on must not decode once more.
   */
  get rawHeaders(): Buffer[] | null {
    if (this.raw !== undefined) return this.raw as Buffer[];
    this.#rawFields = madeOf(this.fields, this.#rawFields);
    return this.#rawFields?.raw ?? null;
  }

  get rawTrailers(): Buffer[] | null {
    this.#rawTrailers = madeOf(this.trailerFields, this.#rawTrailers);
    return this.#rawTrailers?.raw ?? null;
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

interface RawFields {
  readonly fields: FieldList;
  readonly raw: Buffer[];
}

function madeOf(fields: FieldList | undefined, made: RawFields | undefined): RawFields | undefined {
  if (fields === undefined || made?.fields === fields) return made;
  return { fields, raw: rawFields(fields) };
}

function rawFields(fields: FieldList): Buffer[] {
  return fields.map((text) => Buffer.from(text, 'latin1'));
}
