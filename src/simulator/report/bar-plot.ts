import { formatNumber } from '../text-table.ts';
import { markup, type Markup } from './markup.ts';
import { scaleTo } from './scale.ts';

export interface BarPlot {
  /** Unique in the page. */
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** A group of bars each, one bar a series. */
  readonly groups: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly series: readonly string[];
  /** A line across all bars, such as 1 for the usual load. */
  readonly reference?: number | undefined;
}

const WIDTH = 640;
const LEFT = 210;
const RIGHT = 48;
const TOP = 74;
const BAR = 11;
const GAP = 10;
const MAX_NAME = 30;

/** Lying bars as SVG, so that long names can be read. */
export function barPlot({ id, title, unit, groups, series, reference }: BarPlot): Markup {
  const groupHeight = series.length * BAR + GAP;
  const height = TOP + groups.length * groupHeight + 26;
  const { top, ticks } = scaleTo(Math.max(0, ...groups.flatMap(({ values }) => values)), 5);
  const x = (value: number): number => Math.round((LEFT + (value / top) * (WIDTH - LEFT - RIGHT)) * 10) / 10;
  const foot = TOP + groups.length * groupHeight;
  const what = groups.map(
    ({ name, values }) =>
      `${name}: ${values.map((value, index) => `${series[index]!} ${formatNumber(value)}`).join(', ')}`,
  );
  return markup`<svg role="img" viewBox="0 0 ${WIDTH} ${height}" aria-labelledby="${id}-title ${id}-what">
<title id="${id}-title">${title}</title>
<desc id="${id}-what">${unit}. ${what.join('. ')}</desc>
<text class="title" x="8" y="18">${title}</text><text class="quiet" x="8" y="58">${unit}</text>
${series.map((name, index) => markup`<rect class="bar-${index}" x="${8 + legendLeft(series, index)}" y="32" width="18" height="10"/><text x="${32 + legendLeft(series, index)}" y="42">${name}</text>`)}
${ticks.map((value) => markup`<line class="grid" x1="${x(value)}" x2="${x(value)}" y1="${TOP - 4}" y2="${foot}"/><text class="quiet" x="${x(value)}" y="${foot + 16}" text-anchor="middle">${value}</text>`)}
${groups.map(({ name, values }, group) => markup`<text x="${LEFT - 8}" y="${TOP + group * groupHeight + (series.length * BAR) / 2 + 4}" text-anchor="end"><title>${name}</title>${shorten(name)}</text>${values.map((value, index) => markup`<rect class="bar-${index}" x="${LEFT}" y="${TOP + group * groupHeight + index * BAR}" width="${Math.max(1, Math.round((x(value) - LEFT) * 10) / 10)}" height="${BAR - 1}"/><text class="quiet" style="font-size:10px" x="${x(value) + 4}" y="${TOP + group * groupHeight + index * BAR + 9}">${formatNumber(value)}</text>`)}`)}
${reference === undefined ? '' : markup`<line class="reference" x1="${x(reference)}" x2="${x(reference)}" y1="${TOP - 4}" y2="${foot}"/>`}
</svg>`;
}

function legendLeft(series: readonly string[], index: number): number {
  return series.slice(0, index).reduce((left, name) => left + 46 + name.length * 7, 0);
}

function shorten(name: string): string {
  return name.length > MAX_NAME ? `…${name.slice(1 - MAX_NAME)}` : name;
}
