import type { BodyCursor, BodyReader } from './request-body.ts';

/** The body that a reading is of. */
export interface BodyReadingOwner {
  /** The reader takes more. */
  pump(): void;
  closed(reading: BodyReading): void;
}

/** One attempt's place in a body. */
export class BodyReading implements BodyCursor {
  readonly reader: BodyReader;
  readonly #body: BodyReadingOwner;
  offset = 0;
  paused = false;
  pumping = false;

  constructor(body: BodyReadingOwner, reader: BodyReader) {
    this.#body = body;
    this.reader = reader;
  }

  resume(): void {
    this.paused = false;
    this.#body.pump();
  }

  close(): void {
    this.#body.closed(this);
  }
}
