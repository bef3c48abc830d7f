import { formatNumber } from '../text-table.ts';
import { markup, type Markup } from './markup.ts';
import { LINE_STYLE_COUNT } from './plot-style.ts';
import { scaleTo, shortTime, timeTicks } from './scale.ts';

export interface PlotLine {
  readonly name: string;
  /** One an interval. */
  readonly values: readonly number[];
  /** Which of the styles; the same mode has the same one in every plot. */
  readonly style: number;
}

export interface LinePlot {
  /** Unique in the page. */
  readonly id: string;
  readonly title: string;
  /** What the values are: `requests a second`. */
  readonly unit: string;
  readonly intervalMs: number;
  readonly lines: readonly PlotLine[];
  /** When something was wrong. */
  readonly bands: readonly { readonly fromMs: number; readonly untilMs: number; readonly what: string }[];
  /** A value to compare with, such as a capacity. */
  readonly reference?: { readonly value: number; readonly name: string } | undefined;
}

const WIDTH = 640;
const HEIGHT = 296;
const LEFT = 58;
const RIGHT = 12;
const TOP = 74;
const BOTTOM = 30;
/** More points than this are not seen. */
const MAX_POINTS = 160;

/** Lines over time as SVG, with a title, a description for those who do not see it, and a band for each fault. */
export function linePlot(plot: LinePlot): Markup {
  const { id, title, unit, intervalMs, bands, reference } = plot;
  const endMs = Math.max(intervalMs, ...plot.lines.map(({ values }) => values.length * intervalMs));
  const merged = Math.ceil(endMs / intervalMs / MAX_POINTS);
  const lines = plot.lines.map((line) => ({ ...line, values: mergeValues(line.values, merged) }));
  const highest = Math.max(0, reference?.value ?? 0, ...lines.flatMap(({ values }) => values));
  const { top, ticks } = scaleTo(highest, 5);
  const x = (ms: number): number => round(LEFT + (ms / endMs) * (WIDTH - LEFT - RIGHT));
  const y = (value: number): number => round(HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM));
  const point = (value: number, index: number): string =>
    `${x(Math.min(endMs, (index + 0.5) * merged * intervalMs))} ${y(value)}`;
  // A line of one point would not be seen.
  const path = (values: readonly number[]): string =>
    values.length === 1 ? `M${x(0)} ${y(values[0]!)}H${x(endMs)}` : `M${values.map(point).join('L')}`;
  return markup`<svg role="img" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-labelledby="${id}-title ${id}-what">
<title id="${id}-title">${title}</title>
<desc id="${id}-what">${describe(plot, endMs)}</desc>
<text class="title" x="8" y="18">${title}</text><text class="quiet" x="8" y="58">${unit}</text>
${legend(lines, reference?.name)}
${bands.map((band) => markup`<rect class="band" x="${x(band.fromMs)}" y="${TOP}" width="${round(Math.max(2, x(Math.min(band.untilMs, endMs)) - x(band.fromMs)))}" height="${HEIGHT - TOP - BOTTOM}"><title>${band.what}</title></rect>`)}
${ticks.map((value) => markup`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/><text class="quiet" x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${tickText(value)}</text>`)}
<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(0)}" y2="${y(0)}"/>
${timeTicks(endMs).map((ms) => markup`<text class="quiet" x="${x(ms)}" y="${HEIGHT - 10}" text-anchor="${ms === endMs ? 'end' : 'middle'}">${shortTime(ms)}</text>`)}
${reference === undefined ? '' : markup`<line class="reference" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(reference.value)}" y2="${y(reference.value)}"/>`}
${lines.map(({ name, values, style }) => markup`<path class="line line-${style % LINE_STYLE_COUNT}" d="${path(values)}"><title>${name}</title></path>`)}
</svg>`;
}

/** Lines of few points for a plot: the mean of so many values at a time. */
export function mergeValues(values: readonly number[], count: number): number[] {
  if (count <= 1) return [...values];
  return Array.from({ length: Math.ceil(values.length / count) }, (_, index) => {
    const some = values.slice(index * count, (index + 1) * count);
    return some.reduce((sum, value) => sum + value, 0) / some.length;
  });
}

function legend(lines: readonly PlotLine[], reference: string | undefined): Markup[] {
  let left = 8;
  const entry = (name: string, style: string): Markup => {
    const sample = markup`<line class="${style}" x1="${left}" x2="${left + 24}" y1="38" y2="38"/><text x="${left + 30}" y="42">${name}</text>`;
    left += 48 + name.length * 7;
    return sample;
  };
  return [
    ...lines.map(({ name, style }) => entry(name, `line line-${style % LINE_STYLE_COUNT}`)),
    ...(reference === undefined ? [] : [entry(reference, 'reference')]),
  ];
}

function describe({ lines, unit, bands }: LinePlot, endMs: number): string {
  const ranges = lines.map(({ name, values }) => {
    const highest = values.reduce((most, value) => Math.max(most, value), 0);
    return `${name}: highest ${formatNumber(highest)}, last ${formatNumber(values.at(-1) ?? 0)}`;
  });
  const faults = bands.map(({ fromMs, untilMs, what }) => `${what} from ${shortTime(fromMs)} to ${shortTime(untilMs)}`);
  return [`${unit}, from 0 to ${shortTime(endMs)}`, ...ranges, ...faults].join('. ');
}

function tickText(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(3))} M`;
  if (value >= 10_000) return `${Number((value / 1000).toPrecision(3))} k`;
  return String(value);
}

/** A tenth of a pixel is finer than anybody sees. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
