import type { BodyCursor, BodyReader, RequestBody } from '../transport/body/request-body.ts';
import type { RequestHandler } from './dispatch-handler.ts';

/**
 * The body itself, or one that tells the handler of what is read of it, in each attempt, where the handler wants to know.
 * @param threw The handler threw.
 */
export function watchedBody(body: RequestBody, handler: RequestHandler, threw: (error: unknown) => void): RequestBody {
  const isWatched = handler.onBodySent !== undefined || handler.onRequestSent !== undefined;
  return isWatched ? new WatchedBody(body, handler, threw) : body;
}

class WatchedBody implements RequestBody {
  readonly #body: RequestBody;
  readonly #handler: RequestHandler;
  readonly #threw: (error: unknown) => void;

  constructor(body: RequestBody, handler: RequestHandler, threw: (error: unknown) => void) {
    this.#body = body;
    this.#handler = handler;
    this.#threw = threw;
  }

  get contentLength(): number | undefined {
    return this.#body.contentLength;
  }

  get replayable(): boolean {
    return this.#body.replayable;
  }

  get complete(): boolean {
    return this.#body.complete;
  }

  get bytesReceived(): number {
    return this.#body.bytesReceived;
  }

  open(reader: BodyReader): BodyCursor {
    return this.#body.open({
      onChunk: (chunk) => {
        this.#tell(() => this.#handler.onBodySent?.(chunk));
        return reader.onChunk(chunk);
      },
      onEnd: (trailers) => {
        this.#tell(() => this.#handler.onRequestSent?.());
        reader.onEnd(trailers);
      },
      onError: (failure) => reader.onError(failure),
    });
  }

  copy(): RequestBody | undefined {
    const copy = this.#body.copy();
    return copy === undefined ? undefined : new WatchedBody(copy, this.#handler, this.#threw);
  }

  commit(): void {
    this.#body.commit();
  }

  destroy(): void {
    this.#body.destroy();
  }

  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#threw(error);
    }
  }
}
