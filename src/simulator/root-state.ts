import { LatencyHistogram } from './latency-histogram.ts';
import type { CallState } from './call-state.ts';
import type { Random } from './random.ts';
import { Series } from './series.ts';
import type { TopologyRoot } from './topology.ts';

/** Where requests from outside come from, and what became of them. */
export class RootState {
  readonly spec: TopologyRoot;
  readonly call: CallState;
  readonly arrived: Series;
  readonly answered: Series;
  readonly failed: Series;
  /** Of the requests that were answered well. */
  readonly latency: LatencyHistogram = new LatencyHistogram();
  readonly #random: Random;
  #drawnCount = 0;
  #latestMs: number;

  constructor(spec: TopologyRoot, call: CallState, random: Random, intervalMs: number) {
    this.spec = spec;
    this.call = call;
    this.#random = random;
    this.#latestMs = spec.fromMs;
    this.arrived = new Series(intervalMs);
    this.answered = new Series(intervalMs);
    this.failed = new Series(intervalMs);
  }

  /** When the next request arrives; Infinity when no more do. It depends on nothing that the others did. */
  nextArrivalMs(): number {
    const { arrivals, fromMs, untilMs, ratePerSecond } = this.spec;
    const gapMs = 1000 / ratePerSecond;
    if (arrivals === 'poisson') this.#latestMs += gapMs * this.#random.exponential();
    // Not added up: a million roundings would be another rate.
    else this.#latestMs = fromMs + gapMs * this.#drawnCount;
    this.#drawnCount += 1;
    return this.#latestMs < untilMs ? this.#latestMs : Infinity;
  }

  ended(isAnswered: boolean, startedAtMs: number, nowMs: number): void {
    if (isAnswered) {
      this.answered.add(nowMs);
      this.latency.record(nowMs - startedAtMs);
    } else this.failed.add(nowMs);
  }
}
