import type { Dispatcher } from 'undici';
import { DispatchController } from './dispatch-controller.ts';
import type { DispatchOptions } from './dispatch-request.ts';

type Handler = Dispatcher.DispatchHandler;
type Headers = Parameters<NonNullable<Handler['onResponseStart']>>[2];

const MISDIRECTED = 421;
/** Of a 421; a longer one is passed on, and sent for again. */
const MAX_BYTES = 65_536;

interface Answer {
  readonly controller: DispatchController;
  readonly headers: Headers;
  readonly statusText: string | undefined;
  readonly chunks: Buffer[];
}

/**
 * fetch sends a request a second time after a 421 (Fetch standard, HTTP-network-or-cache fetch). Whether it may be was
 * decided before it saw the answer, so it gets the same answer again, and nothing is sent.
 */
export class MisdirectedGuard {
  #first: { readonly key: string; readonly answer: Answer } | undefined;

  /** @param send sends a request in earnest */
  dispatch(options: DispatchOptions, handler: Handler, send: (handler: Handler) => boolean): boolean {
    const key = `${options.method} ${String(options.origin)}${options.path}`;
    const first = this.#first;
    this.#first = undefined;
    if (first?.key === key) return repeat(first.answer, handler);
    return send(
      new Listener(handler, (answer) => {
        this.#first = { key, answer };
      }),
    );
  }
}

/** Passes everything on, a 421 only once it is whole. */
class Listener implements Handler {
  readonly #handler: Handler;
  readonly #keep: (answer: Answer) => void;
  #answer: Answer | undefined;
  #bytes = 0;

  constructor(handler: Handler, keep: (answer: Answer) => void) {
    this.#handler = handler;
    this.#keep = keep;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
    statusText?: string,
  ): void {
    if (status !== MISDIRECTED) return this.#handler.onResponseStart?.(controller, status, headers, statusText);
    this.#answer = { controller: controller as DispatchController, headers, statusText, chunks: [] };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const answer = this.#answer;
    if (answer === undefined) return this.#handler.onResponseData?.(controller, chunk);
    answer.chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) this.#pass(answer);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: Headers): void {
    const answer = this.#answer;
    if (answer !== undefined) {
      this.#keep(answer);
      this.#pass(answer);
    }
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#handler.onResponseError?.(controller, error);
  }

  #pass(answer: Answer): void {
    this.#answer = undefined;
    tell(answer, answer.controller, this.#handler);
  }
}

function repeat(answer: Answer, handler: Handler): boolean {
  const controller: DispatchController = new DispatchController({
    abort(reason) {
      controller.aborted = true;
      controller.reason = reason ?? null;
      handler.onResponseError?.(controller, reason ?? new Error('aborted'));
    },
    resume() {},
  });
  controller.fields = answer.controller.fields;
  handler.onRequestStart?.(controller, undefined);
  if (controller.aborted) return true;
  tell(answer, controller, handler);
  if (!controller.aborted) handler.onResponseEnd?.(controller, {});
  return true;
}

function tell({ headers, statusText, chunks }: Answer, controller: DispatchController, handler: Handler): void {
  handler.onResponseStart?.(controller, MISDIRECTED, headers, statusText);
  for (const chunk of chunks) {
    if (!controller.aborted) handler.onResponseData?.(controller, chunk);
  }
}
