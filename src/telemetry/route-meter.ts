import { Buckets } from './buckets.ts';
import { OwnershipMeter } from './ownership-meter.ts';
import type { RequestSample } from './request-sample.ts';
import { Tally } from './tally.ts';

/** The methods that have a series of their own; a client may write any text as a method. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'other'] as const;
export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

const OTHER = METHODS.length - 1;
const METHOD_INDEX: ReadonlyMap<string, number> = new Map(METHODS.slice(0, OTHER).map((name, index) => [name, index]));

/** Requests of one route that ended at one upstream. */
export class RouteMeter {
  /** Names of the configuration; empty for requests that no route took, and that no upstream was asked for. */
  readonly route: string;
  readonly upstream: string;
  readonly durations: Buckets = new Buckets();
  readonly flags: Tally = new Tally();
  readonly replayLost: Tally = new Tally();
  readonly ownership: OwnershipMeter = new OwnershipMeter();
  requestBytes = 0;
  responseBytes = 0;
  truncatedCount = 0;
  chargedRetryCount = 0;
  freeRetryCount = 0;
  hedgeCount = 0;
  retryWaitSeconds = 0;
  /** By stop reason, then at `method × status class`. */
  readonly #requests = new Map<string, Float64Array>();

  constructor(route: string, upstream: string) {
    this.route = route;
    this.upstream = upstream;
  }

  record(sample: RequestSample): void {
    const reason = sample.reason ?? '';
    let counts = this.#requests.get(reason);
    if (counts === undefined)
      this.#requests.set(reason, (counts = new Float64Array(METHODS.length * STATUS_CLASSES.length)));
    const method = METHOD_INDEX.get(sample.method) ?? OTHER;
    const cell = method * STATUS_CLASSES.length + statusClassIndex(sample.status);
    counts[cell] = (counts[cell] as number) + 1;

    if (!isTunnel(sample)) this.durations.observeMs(sample.durationMs);
    this.requestBytes += sample.bytesIn;
    this.responseBytes += sample.bytesOut;
    this.retryWaitSeconds += sample.retryBackoff / 1000;
    if (sample.truncated) this.truncatedCount += 1;
    if (sample.replayLost !== undefined) this.replayLost.add(sample.replayLost);
    for (const flag of sample.flags) this.flags.add(flag);
    for (let index = 1; index < sample.attempts.length; index += 1) {
      const attempt = sample.attempts[index];
      if (attempt?.hedge === true) this.hedgeCount += 1;
      else if (attempt?.free === true) this.freeRetryCount += 1;
      else this.chargedRetryCount += 1;
    }
  }

  /** Every count above 0. */
  *requests(): Iterable<{ method: string; statusClass: string; reason: string; count: number }> {
    for (const [reason, counts] of this.#requests) {
      for (const [cell, count] of counts.entries()) {
        if (count === 0) continue;
        const method = METHODS[Math.floor(cell / STATUS_CLASSES.length)] as string;
        yield { method, statusClass: STATUS_CLASSES[cell % STATUS_CLASSES.length] as string, reason, count };
      }
    }
  }
}

/** How long peers talk through a tunnel says nothing of how long answers take. */
function isTunnel({ method, status }: RequestSample): boolean {
  return status === 101 || (method === 'CONNECT' && status === 200);
}

/** A request that ended without a status stands with the failures of ours, so that none is left out of a sum. */
function statusClassIndex(status: number): number {
  const index = Math.floor(status / 100) - 1;
  return index >= 0 && index < STATUS_CLASSES.length ? index : STATUS_CLASSES.length - 1;
}
