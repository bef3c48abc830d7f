import type { EventChannel, MulliganEvent } from '../../core/observer.ts';

/** Somebody who reads events. */
export interface EventReader {
  wants(event: MulliganEvent): boolean;
  /** Takes the text of one event; false when it does not keep up and was cut. */
  write(text: string): boolean;
  end(): void;
}

/**
 * Hands events to whoever reads them at the moment. Nothing is kept for later: without a reader an event costs the one
 * question whether there is one, and a reader that does not keep up is cut, not waited for.
 */
export class EventHub implements EventChannel {
  droppedReaderCount = 0;
  readonly #readers = new Set<EventReader>();

  get active(): boolean {
    return this.#readers.size > 0;
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  add(reader: EventReader): void {
    this.#readers.add(reader);
  }

  remove(reader: EventReader): void {
    this.#readers.delete(reader);
  }

  publish(event: MulliganEvent): void {
    let text: string | undefined;
    for (const reader of this.#readers) {
      if (reader.wants(event)) this.#offer(reader, (text ??= eventText(event)));
    }
  }

  /** A comment to every reader, so that both ends notice when the other is gone. */
  beat(): void {
    for (const reader of this.#readers) this.#offer(reader, ': still here\n\n');
  }

  endAll(): void {
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  #offer(reader: EventReader, text: string): void {
    if (reader.write(text)) return;
    this.#readers.delete(reader);
    this.droppedReaderCount += 1;
  }
}

/** One server-sent event. JSON has no raw line breaks, so the data is one line whatever a client put into it. */
function eventText({ atMs, ...event }: MulliganEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify({ time: new Date(atMs).toISOString(), ...event })}\n\n`;
}
