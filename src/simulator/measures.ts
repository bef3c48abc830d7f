import { LatencyHistogram } from './latency-histogram.ts';
import { Series } from './series.ts';

/** What happened at one operation. Each arrival ends in one of the counts below, or is still inside. */
export class Measures {
  readonly arrived: Series;
  readonly failed: Series;
  answeredCount = 0;
  /** Too many were waiting. */
  shedCount = 0;
  /** It was too late when its turn came. */
  expiredCount = 0;
  /** Taken by a server that hangs: nobody is ever answered. */
  swallowedCount = 0;
  /** Answers that nobody waited for any more, whatever they said. */
  wastedCount = 0;
  /** Arrival to answer, waiting included. */
  readonly latency: LatencyHistogram = new LatencyHistogram();

  constructor(intervalMs: number) {
    this.arrived = new Series(intervalMs);
    this.failed = new Series(intervalMs);
  }
}
