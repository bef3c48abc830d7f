import type { ServerResponse } from 'node:http';
import type { MulliganEvent } from '../../core/observer.ts';
import type { Clock, Timer } from '../../transport/clock.ts';
import { refuse, SAFETY_FIELDS } from './answer.ts';
import { readFilter } from './event-filter.ts';
import type { EventHub, EventReader } from './event-hub.ts';

/** Readers at one time, ≥ 1. */
const MAX_READERS = 16;
/** Bytes that may wait for one reader; beyond them it is cut. */
const MAX_WAITING_BYTES = 256 * 1024;
const HEARTBEAT_MS = 10_000;

/** `/events`: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) of one gateway. */
export class EventStream {
  readonly #hub: EventHub;
  readonly #clock: Clock;
  #heartbeat: Timer | undefined;

  constructor(hub: EventHub, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
  }

  serve(response: ServerResponse, query: string, isHead: boolean): void {
    const filter = readFilter(query);
    if (!filter.ok) return refuse(response, { status: 400, detail: filter.detail });
    if (this.#hub.readerCount >= MAX_READERS)
      return refuse(response, { status: 503, detail: `There are ${MAX_READERS} readers already, which is the most.` });
    response.writeHead(200, { ...SAFETY_FIELDS, 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    if (isHead) {
      response.end();
      return;
    }
    response.write('retry: 2000\n\n');
    const reader = new ResponseReader(response, filter.wants);
    this.#hub.add(reader);
    response.on('close', () => this.#hub.remove(reader));
    this.#beatLater();
  }

  #beatLater(): void {
    if (this.#heartbeat !== undefined) return;
    this.#heartbeat = this.#clock.setTimer(HEARTBEAT_MS, () => {
      this.#heartbeat = undefined;
      this.#hub.beat();
      if (this.#hub.active) this.#beatLater();
    });
    this.#heartbeat.unref();
  }
}

/** Gathers what one turn of the event loop brings into one write: traffic must not wait for a system call an event. */
class ResponseReader implements EventReader {
  readonly wants: (event: MulliganEvent) => boolean;
  readonly #response: ServerResponse;
  #gathered = '';
  #cut = false;

  constructor(response: ServerResponse, wants: (event: MulliganEvent) => boolean) {
    this.#response = response;
    this.wants = wants;
  }

  write(text: string): boolean {
    if (this.#cut) return false;
    if (this.#gathered.length + this.#response.writableLength + text.length > MAX_WAITING_BYTES) {
      this.#cut = true;
      this.#gathered = '';
      this.#response.destroy();
      return false;
    }
    if (this.#gathered === '') setImmediate(() => this.#flush());
    this.#gathered += text;
    return true;
  }

  end(): void {
    this.#flush();
    this.#response.end();
  }

  #flush(): void {
    const text = this.#gathered;
    this.#gathered = '';
    if (text !== '' && !this.#response.writableEnded) this.#response.write(text);
  }
}
