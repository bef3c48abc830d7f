/** One line of the Prometheus text format. */
export interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ExposedFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ExposedSample[];
}

export interface Exposition {
  readonly families: ReadonlyMap<string, ExposedFamily>;
  /** Sum of the samples with this name whose labels hold these values; 0 without any. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** The one sample with this name and these values; fails when there is not exactly one. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (N[aA][nN]|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,|$)/y;

/**
 * Reads the text format 0.0.4 as strictly as `promtool check metrics` does, for the parts that are used here.
 * @throws Error that quotes the line and says what is wrong with it
 */
export function readExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line has no line break');
  const families = new Map<string, { help: string; type: string; samples: ExposedSample[] }>();
  const seen = new Set<string>();
  let help: { readonly name: string; readonly text: string } | undefined;
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`);
    };
    if (line === '') continue;
    if (line.startsWith('# HELP ')) {
      const [name = '', ...words] = line.slice('# HELP '.length).split(' ');
      if (!METRIC_NAME.test(name) || words.length === 0) fail('no help');
      help = { name, text: words.join(' ') };
      continue;
    }
    if (line.startsWith('# TYPE ')) {
      const [name = '', type = ''] = line.slice('# TYPE '.length).split(' ');
      if (help?.name !== name) fail('a type without help before it');
      if (!['counter', 'gauge', 'histogram', 'summary'].includes(type)) fail('an unknown type');
      if (families.has(name)) fail('a family that was there before');
      families.set(name, { help: help?.text ?? '', type, samples: [] });
      open = name;
      continue;
    }
    const [, name = '', labelText = '', number = ''] = SAMPLE.exec(line) ?? fail('not a sample');
    const family = families.get(open ?? '') ?? fail('a sample before its type');
    const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    if (!suffixes.some((suffix) => name === `${open}${suffix}`)) fail(`a sample of another family than ${open}`);
    const labels = readLabels(labelText) ?? fail('labels that cannot be read');
    const key = `${name}${seriesKey(labels)}`;
    if (seen.has(key)) fail('a series that was there before');
    seen.add(key);
    family.samples.push({ name, labels, value: Number(number.replace('Inf', 'Infinity')) });
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family.samples);
  const matching = (name: string, labels: Readonly<Record<string, string>>): ExposedSample[] =>
    [...families.values()]
      .flatMap(({ samples }) => samples)
      .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value));
  return {
    families,
    sum: (name, labels = {}) => matching(name, labels).reduce((total, { value }) => total + value, 0),
    value(name, labels = {}) {
      const found = matching(name, labels);
      if (found.length !== 1) throw new Error(`${found.length} series of ${name} with ${JSON.stringify(labels)}`);
      return found[0]!.value;
    },
  };
}

function readLabels(text: string): Record<string, string> | undefined {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    const match = LABEL.exec(text);
    if (match === null || Object.hasOwn(labels, match[1]!)) return undefined;
    labels[match[1]!] = match[2]!;
    at = LABEL.lastIndex;
  }
  return labels;
}

/** The same for the same labels in any order. */
function seriesKey(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Buckets never shrink, end with +Inf, and that one is the count. */
function checkHistogram(name: string, samples: readonly ExposedSample[]): void {
  const series = new Map<string, { bounds: number[]; counts: number[]; count?: number; sum?: number }>();
  for (const sample of samples) {
    const { le, ...labels } = sample.labels;
    const key = seriesKey(labels);
    const one = series.get(key) ?? { bounds: [], counts: [] };
    series.set(key, one);
    if (sample.name === `${name}_count`) one.count = sample.value;
    else if (sample.name === `${name}_sum`) one.sum = sample.value;
    else {
      one.bounds.push(Number(le?.replace('Inf', 'Infinity')));
      one.counts.push(sample.value);
    }
  }
  for (const [key, { bounds, counts, count, sum }] of series) {
    const rising = (values: readonly number[], strict: boolean): boolean =>
      values.every(
        (value, index) => index === 0 || (strict ? value > values[index - 1]! : value >= values[index - 1]!),
      );
    if (!rising(bounds, true) || bounds.at(-1) !== Infinity)
      throw new Error(`bounds of ${name} ${key}: ${bounds.join(' ')}`);
    if (!rising(counts, false) || counts.at(-1) !== count)
      throw new Error(`counts of ${name} ${key}: ${counts.join(' ')}`);
    if (sum === undefined) throw new Error(`${name} ${key} has no sum`);
  }
}
