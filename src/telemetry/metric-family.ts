import { Counter, Gauge, Histogram } from 'prom-client';
import type { MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';
import type { Buckets } from './buckets.ts';
import { DURATION_BOUNDS } from './buckets.ts';

/** One series: its labels' values, in the order of the family's label names, and its value. */
export type Sample = readonly [labels: readonly (string | number)[], value: number];

/** One histogram: its labels' values and its counts. */
export type BucketSample = readonly [labels: readonly string[], buckets: Buckets];

interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export interface FamilyOf<Read> extends FamilyOptions {
  /** Called at each scrape. */
  readonly read: () => Iterable<Read>;
}

/** A counter whose values are kept elsewhere and read when somebody scrapes. */
export function addCounter(registry: Registry, { name, help, labels, read }: FamilyOf<Sample>): void {
  const counter = new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      this.reset();
      for (const [values, value] of read()) this.inc(labelled(labels, values), value);
    },
  });
  // Without labels a counter that nobody counted is 0, not missing.
  if (labels.length === 0) counter.reset();
}

export function addGauge(registry: Registry, { name, help, labels, read }: FamilyOf<Sample>): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      this.reset();
      for (const [values, value] of read()) this.set(labelled(labels, values), value);
    },
  });
  if (labels.length === 0) gauge.reset();
}

export function addHistogram(registry: Registry, family: FamilyOf<BucketSample>): void {
  registry.registerMetric(new ReadHistogram(family));
}

/** `prom-client` counts observations itself, with a label lookup each; ours are counted already. */
class ReadHistogram extends Histogram {
  readonly #family: FamilyOf<BucketSample>;

  constructor(family: FamilyOf<BucketSample>) {
    super({ name: family.name, help: family.help, labelNames: [...family.labels], registers: [] });
    this.#family = family;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, help, labels, read } = this.#family;
    const values = [...read()].flatMap(([own, buckets]) => series(name, labelled(labels, own), buckets));
    return { name, help, type: 'histogram' as never, aggregator: 'sum', collect: () => {}, values };
  }

  /** What the registry calls for the text format. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }
}

function series(
  name: string,
  labels: Record<string, string | number>,
  buckets: Buckets,
): MetricValueWithName<string>[] {
  let total = 0;
  const values = buckets.counts.map((count, index) => {
    total += count;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: DURATION_BOUNDS[index] ?? '+Inf' }, value: total };
  });
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: buckets.sumSeconds },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

function labelled(names: readonly string[], values: readonly (string | number)[]): Record<string, string | number> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
