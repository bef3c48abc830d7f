import type { CallResult, NodeResult, SimulationResult } from '../result.ts';
import { formatNumber } from '../text-table.ts';
import type { GraphLayout } from './graph-layout.ts';
import { markup, type Markup } from './markup.ts';

const NODE_WIDTH = 150;
const NODE_HEIGHT = 34;
const COLUMN_WIDTH = 215;
const ROW_HEIGHT = 46;
const LEFT = 34;
const TOP = 30;
const MAX_NAME = 22;
const THICKEST = 11;

/** How far above its usual load something is in its worst five seconds. */
type Heat = 'calm' | 'warm' | 'hot' | 'blaze';

/** The steps of the colours, for the legend too. */
export const HEATS: readonly { readonly heat: Heat; readonly from: number; readonly name: string }[] = [
  { heat: 'calm', from: 0, name: 'usual load' },
  { heat: 'warm', from: 1.08, name: 'up to 1.5 times' },
  { heat: 'hot', from: 1.5, name: 'up to 3 times' },
  { heat: 'blaze', from: 3, name: '3 times and more' },
];

function heatOf(load: number): Heat {
  return HEATS.findLast(({ from }) => load >= from)?.heat ?? 'calm';
}

/** Requests a second of a call at its worst. */
export function worstRateOf({ baselineCount, peakLoad, attemptCount }: CallResult, simulatedMs: number): number {
  const usual = baselineCount > 0 ? baselineCount * peakLoad : attemptCount;
  return simulatedMs > 0 ? (usual * 1000) / simulatedMs : 0;
}

/**
 * The operations and calls of a run as SVG: lines as thick as the requests a second at their worst, coloured by how many
 * times that is the usual.
 * @param mostRate what the thickest line stands for; the same in all graphs that are compared
 */
export function graphPlot(id: string, result: SimulationResult, layout: GraphLayout, mostRate: number): Markup {
  const { nodes, calls, simulatedMs, mode } = result;
  const width = LEFT + (layout.columnCount - 1) * COLUMN_WIDTH + NODE_WIDTH + 12;
  const height = TOP + layout.rowCount * ROW_HEIGHT;
  const byName = new Map(nodes.map((node) => [node.operation, node]));
  const places = new Map(
    layout.nodes.map(({ name, column, row }) => [name, { x: LEFT + column * COLUMN_WIDTH, y: TOP + row * ROW_HEIGHT }]),
  );
  const lone = new Set(nodes.map(({ service }) => service).filter((name, _, all) => isOnce(name, all)));
  const edges = calls
    .toSorted((a, b) => a.peakLoad - b.peakLoad)
    .map((call) => {
      const rate = worstRateOf(call, simulatedMs);
      const thickness = Math.round((1 + (THICKEST - 1) * Math.sqrt(rate / Math.max(mostRate, 1e-9))) * 10) / 10;
      return edge(call, rate, thickness, places);
    });
  return markup`<svg role="img" viewBox="0 0 ${width} ${height}" style="max-width:${width}px;min-width:${Math.min(width, 760)}px" aria-labelledby="${id}-title ${id}-what">
<title id="${id}-title">Calls in the mode ${mode}</title>
<desc id="${id}-what">${describe(nodes)}</desc>
<text class="title" x="${LEFT}" y="16">${mode}</text>
${edges}
${layout.nodes.map(({ name }) => box(byName.get(name)!, places.get(name)!, lone))}
</svg>`;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

function edge(call: CallResult, rate: number, thickness: number, places: ReadonlyMap<string, Place>): Markup {
  const to = places.get(call.to)!;
  const from = call.from === undefined ? undefined : places.get(call.from)!;
  const endY = to.y + NODE_HEIGHT / 2;
  const endX = to.x - 7;
  const startX = from === undefined ? to.x - 30 : from.x + NODE_WIDTH;
  const startY = from === undefined ? endY : from.y + NODE_HEIGHT / 2;
  const bend = Math.max(20, (endX - startX) / 2);
  const heat = heatOf(call.peakLoad);
  const name = `${call.from ?? 'clients'} to ${call.to}: ${formatNumber(rate)} a second, ${formatNumber(call.peakLoad)} times the usual`;
  return markup`<path class="edge ${heat}" stroke-width="${thickness}" d="M${startX} ${startY}C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}"><title>${name}</title></path><path class="arrow ${heat}" d="M${to.x - 1} ${endY}l-9 -5v10z"/>`;
}

function box({ operation, service, peakLoad }: NodeResult, { x, y }: Place, lone: ReadonlySet<string>): Markup {
  const name = lone.has(service) ? service : operation;
  const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
  return markup`<g><title>${operation}: ${formatNumber(peakLoad)} times its usual load at worst</title><rect class="node ${heatOf(peakLoad)}" x="${x}" y="${y}" width="${NODE_WIDTH}" height="${NODE_HEIGHT}" rx="5"/><text x="${x + NODE_WIDTH / 2}" y="${y + 14}" text-anchor="middle" style="font-size:11px">${shown}</text><text x="${x + NODE_WIDTH / 2}" y="${y + 28}" text-anchor="middle" style="font-size:11px">${formatNumber(peakLoad)}×</text></g>`;
}

function describe(nodes: readonly NodeResult[]): string {
  const worst = nodes.toSorted((a, b) => b.peakLoad - a.peakLoad).slice(0, 8);
  return worst
    .map(({ operation, peakLoad }) => `${operation} ${formatNumber(peakLoad)} times its usual load`)
    .join(', ');
}

function isOnce(name: string, all: readonly string[]): boolean {
  return all.indexOf(name) === all.lastIndexOf(name);
}
