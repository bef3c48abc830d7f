/** The controller that undici 7 and later give with each event. */
export interface InnerController {
  readonly rawHeaders?: unknown;
  readonly rawTrailers?: unknown;
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What an attempt hears, whichever version of undici speaks. */
export interface AttemptListener {
  started(abort: (reason: Error) => void, context: unknown): void;
  /** `headers`: as undici parsed them, where it did. Returns false to be asked with `resume`. */
  head(
    status: number,
    raw: readonly Buffer[] | undefined,
    headers: Headers | undefined,
    message: string,
    resume: () => void,
  ): boolean;
  data(chunk: Buffer): boolean;
  ended(raw: readonly Buffer[] | undefined, trailers: Headers | undefined): void;
  failed(error: Error): void;
  bodySent(chunk: unknown): void;
  requestSent(): void;
  responseStarted(): void;
}

/**
 * Handler of one dispatch, with the methods of both shapes: undici 6 and the fetch of Node 22 call the older ones, undici 8
 * the newer, undici 7 either. Which version stands below an interceptor cannot be asked; it shows by what it calls.
 */
export class InnerHandler {
  readonly #attempt: AttemptListener;
  /** By its first call: what both shapes get is heard once. */
  #shape: 'older' | 'newer' | undefined;

  constructor(attempt: AttemptListener) {
    this.#attempt = attempt;
  }

  onRequestStart(controller: InnerController, context: unknown): void {
    if (this.#is('newer')) this.#attempt.started((reason) => controller.abort(reason), context);
  }

  onResponseStart(controller: InnerController, status: number, headers: Headers, message?: string): void {
    if (!this.#is('newer')) return;
    const goOn = this.#attempt.head(status, buffers(controller.rawHeaders), headers, message ?? '', () =>
      controller.resume(),
    );
    if (!goOn) controller.pause();
  }

  onResponseData(controller: InnerController, chunk: Buffer): void {
    if (this.#is('newer') && !this.#attempt.data(chunk)) controller.pause();
  }

  onResponseEnd(controller: InnerController, trailers: Headers): void {
    if (this.#is('newer')) this.#attempt.ended(buffers(controller.rawTrailers), trailers);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#is('newer')) this.#attempt.failed(error);
  }

  onConnect(abort: (reason: Error) => void, context: unknown): void {
    if (this.#is('older')) this.#attempt.started(abort, context);
  }

  onHeaders(status: number, raw: readonly Buffer[], resume: () => void, message?: string): boolean {
    return this.#is('older') ? this.#attempt.head(status, raw, undefined, message ?? '', resume) : true;
  }

  onData(chunk: Buffer): boolean {
    return this.#is('older') ? this.#attempt.data(chunk) : true;
  }

  onComplete(raw: readonly Buffer[]): void {
    if (this.#is('older')) this.#attempt.ended(raw, undefined);
  }

  onError(error: Error): void {
    if (this.#is('older')) this.#attempt.failed(error);
  }

  onResponseStarted(): void {
    this.#attempt.responseStarted();
  }

  onBodySent(chunk: unknown): void {
    this.#attempt.bodySent(chunk);
  }

  onRequestSent(): void {
    this.#attempt.requestSent();
  }

  #is(shape: 'older' | 'newer'): boolean {
    this.#shape ??= shape;
    return this.#shape === shape;
  }
}

function buffers(raw: unknown): readonly Buffer[] | undefined {
  return Array.isArray(raw) ? (raw as Buffer[]) : undefined;
}
