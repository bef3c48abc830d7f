import { util } from 'undici';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { ControlledRequest, DispatchController } from './dispatch-controller.ts';
import type { RequestHandler } from './dispatch-handler.ts';

/** The end of a response: its trailers, or why it broke. */
type Ending = { readonly trailers: FieldList } | { readonly error: Error };

/**
 * Hands a response to its handler, and nothing while the handler wants nothing: what arrives meanwhile is held back, the
 * end of the response too.
 */
export class ResponseDelivery {
  readonly #handler: RequestHandler;
  readonly #controller: DispatchController;
  readonly #request: ControlledRequest;
  #held: Buffer[] = [];
  #ending: Ending | undefined;

  /** @param request Is aborted when the handler throws. */
  constructor(handler: RequestHandler, controller: DispatchController, request: ControlledRequest) {
    this.#handler = handler;
    this.#controller = controller;
    this.#request = request;
  }

  head({ status, fields, reason }: ResponseHead): void {
    const controller = this.#controller;
    controller.fields = fields;
    try {
      if (status >= 200) this.#handler.onResponseStarted?.();
      this.#handler.onResponseStart?.(controller, status, util.parseHeaders(fields), reason);
    } catch (error) {
      this.#request.abort(error as Error);
    }
  }

  /** The bytes are copied: the next read may overwrite them. Returns false when no more is wanted. */
  data(chunk: Buffer): boolean {
    const own = Buffer.from(chunk);
    if (this.#controller.paused || this.#held.length > 0) this.#held.push(own);
    else this.#give(own);
    return !this.#controller.paused;
  }

  /** @returns whether the handler was told; it is later, once it takes what is held back */
  end(ending: Ending): boolean {
    this.#ending = ending;
    return this.#settle();
  }

  /** The handler takes more. @returns whether the response ended with this */
  resume(): boolean {
    while (this.#held.length > 0 && !this.#controller.paused) this.#give(this.#held.shift()!);
    return this.#settle();
  }

  /** Nothing more is told. */
  drop(): void {
    this.#held = [];
    this.#ending = undefined;
  }

  #give(chunk: Buffer): void {
    try {
      this.#handler.onResponseData?.(this.#controller, chunk);
    } catch (error) {
      this.#request.abort(error as Error);
    }
  }

  #settle(): boolean {
    const ending = this.#ending;
    if (ending === undefined || this.#held.length > 0 || this.#controller.paused) return false;
    this.#ending = undefined;
    const controller = this.#controller;
    if ('error' in ending) this.#handler.onResponseError(controller, ending.error);
    else {
      controller.trailerFields = ending.trailers;
      try {
        this.#handler.onResponseEnd?.(controller, util.parseHeaders(ending.trailers));
      } catch (error) {
        this.#request.abort(error as Error);
      }
    }
    return true;
  }
}
