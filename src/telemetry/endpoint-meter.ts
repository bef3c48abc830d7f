import { Buckets } from './buckets.ts';
import type { AttemptSample } from './request-sample.ts';
import { Tally } from './tally.ts';

/** Attempts at one endpoint of one upstream. */
export class EndpointMeter {
  readonly upstream: string;
  readonly endpoint: string;
  readonly durations: Buckets = new Buckets();
  ejectionCount = 0;
  /** By safety class, then by outcome. */
  readonly #attempts = new Map<string, Tally>();

  constructor(upstream: string, endpoint: string) {
    this.upstream = upstream;
    this.endpoint = endpoint;
  }

  record(attempt: AttemptSample): void {
    const safety = attempt.class ?? 'none';
    let tally = this.#attempts.get(safety);
    if (tally === undefined) this.#attempts.set(safety, (tally = new Tally()));
    tally.add(outcomeOf(attempt));
    this.durations.observeMs(attempt.durationMs);
  }

  *attempts(): Iterable<{ safety: string; outcome: string; count: number }> {
    for (const [safety, tally] of this.#attempts) {
      for (const [outcome, count] of tally.entries()) yield { safety, outcome, count };
    }
  }
}

const STATUS_OUTCOMES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** A failure tells more than the status that came before it; `abandoned`: its client left, or a deadline passed, first. */
function outcomeOf({ status, failure, superseded }: AttemptSample): string {
  if (superseded === true) return 'superseded';
  if (failure !== undefined) return failure;
  if (status === undefined) return 'abandoned';
  return STATUS_OUTCOMES[Math.floor(status / 100) - 1] ?? '5xx';
}
