import { SIMULATION_MODES, type SimulationMode } from '../mode.ts';
import type { SimulationResult } from '../result.ts';
import { formatMs, formatNumber } from '../text-table.ts';
import { verdictLine } from '../verdict-line.ts';
import { barPlot } from './bar-plot.ts';
import { layOut } from './graph-layout.ts';
import { graphPlot, HEATS, worstRateOf } from './graph-plot.ts';
import { Markup, markup } from './markup.ts';
import { foldedTable } from './number-table.ts';
import { PAGE_STYLE } from './page-style.ts';
import { LINE_STYLE_COUNT } from './plot-style.ts';
import { latencyTable, loadTable, stopTable, suppressedTable, totalsTable } from './report-tables.ts';
import { timeFigures } from './time-figures.ts';

export interface ReportOptions {
  /** What was simulated: the name of the file. */
  readonly title: string;
  /** Modes that were asked for and that an early end left out. */
  readonly notRun?: readonly SimulationMode[] | undefined;
  /** What the source does not tell and was assumed, a sentence each. */
  readonly assumptions?: readonly string[] | undefined;
}

/** Operations whose bars are shown; the table below has them all. */
const BAR_COUNT = 12;
/** Graphs of more columns than this get the whole width of the page. */
const NARROW_COLUMNS = 3;

/**
 * One page that tells an engineer what came out of a run, or of several modes of the same arrivals. It needs no network
 * and no script, and the same results give the same page.
 */
export function htmlReport(
  results: readonly SimulationResult[],
  { title, notRun = [], assumptions = [] }: ReportOptions,
): string {
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${title}: retries simulated</title>
<link rel="icon" href="data:,">
<style>${new Markup(PAGE_STYLE)}</style>
</head>
<body>
<header><h1>${title}</h1>${results.slice(0, 1).map(leadOf)}${assumedOf(assumptions)}</header>
<main>
${noticeOf(results, notRun)}
<ul class="modes">${results.map(cardOf)}</ul>
<section aria-labelledby="totals"><h2 id="totals">What came out</h2>${totalsTable(results)}</section>
<section aria-labelledby="time"><h2 id="time">Over time</h2><p class="lead">Shaded: something was wrong. The same requests arrive in each mode.</p><div class="plots">${timeFigures(results)}</div></section>
<section aria-labelledby="loads"><h2 id="loads">Who carries it</h2>${loadFigure(results)}</section>
<section aria-labelledby="graph"><h2 id="graph">Calls</h2>${graphs(results)}</section>
<section aria-labelledby="latency"><h2 id="latency">Latency</h2>${latencyTable(results)}</section>
<section aria-labelledby="why"><h2 id="why">Why retries were not made</h2>${suppressedTable(results)}${stopTable(results)}</section>
</main>
<footer><p class="lead">Load is told in parts of the load that the same requests make when nothing fails and nothing is retried; below 1 where a failure upstream keeps calls from being made. Worst: the worst five seconds, or as long as a hundred usual arrivals take.</p></footer>
</body>
</html>
`;
  return page.text;
}

function leadOf({ simulatedMs, seed, totals, faults, nodes, services }: SimulationResult): Markup {
  return markup`<p class="lead">${formatMs(simulatedMs)} of virtual time, seed ${seed}: ${totals.requestCount} requests to ${services.length} services with ${nodes.length} operations.</p>
<ul class="plain">${faults.map(({ fromMs, untilMs, what, isMissed }) => markup`<li>${isMissed ? `${formatMs(fromMs)}: ${what} (not reached)` : `${formatMs(fromMs)} – ${formatMs(untilMs)}: ${what}`}</li>`)}</ul>`;
}

function assumedOf(assumptions: readonly string[]): Markup {
  if (assumptions.length === 0) return markup``;
  return markup`<p class="lead">Assumed, because the source does not tell it:</p><ul class="plain">${assumptions.map((one) => markup`<li>${one}</li>`)}</ul>`;
}

function noticeOf(results: readonly SimulationResult[], notRun: readonly SimulationMode[]): Markup {
  const cut = results.filter(({ simulatedMs, durationMs }) => simulatedMs < durationMs);
  if (cut.length + notRun.length === 0) return markup``;
  const told = [
    ...cut.map(
      ({ mode, simulatedMs, durationMs }) => `${mode} ended after ${formatMs(simulatedMs)} of ${formatMs(durationMs)}`,
    ),
    ...notRun.map((mode) => `${mode} was not run`),
  ];
  return markup`<p class="notice" role="note">A part only, ended early: ${told.join('; ')}.</p>`;
}

function cardOf(result: SimulationResult, index: number): Markup {
  return markup`<li class="mode mode-${index % LINE_STYLE_COUNT}"><h3>${result.mode}</h3><p class="meaning">${SIMULATION_MODES[result.mode]}</p><p class="verdict">${verdictLine(result)}</p></li>`;
}

function loadFigure(results: readonly SimulationResult[]): Markup {
  const nodes = results[0]?.nodes ?? [];
  const groups = nodes
    .map(({ operation }, index) => ({
      name: operation,
      values: results.map((result) => result.nodes[index]!.peakLoad),
    }))
    .toSorted((a, b) => Math.max(...b.values) - Math.max(...a.values))
    .slice(0, BAR_COUNT);
  const order = new Map(nodes.map(({ operation }, index) => [operation, index]));
  const shown = groups.toSorted((a, b) => order.get(a.name)! - order.get(b.name)!);
  const left = nodes.length - shown.length;
  const plot = barPlot({
    id: 'loads-plot',
    title: 'Load at worst',
    unit: 'times the usual load, in the worst five seconds',
    series: results.map(({ mode }) => mode),
    groups: shown,
    reference: 1,
  });
  return markup`<div class="plots"><figure>${plot}${left === 0 ? '' : markup`<p class="lead">${left} more operations had less.</p>`}</figure><div>${loadTable(results)}</div></div>`;
}

function graphs(results: readonly SimulationResult[]): Markup {
  const [first] = results;
  if (first === undefined) return markup``;
  const layout = layOut(
    first.nodes.map(({ operation }) => operation),
    first.calls,
  );
  const mostRate = Math.max(
    ...results.flatMap(({ calls, simulatedMs }) => calls.map((call) => worstRateOf(call, simulatedMs))),
  );
  const figures = results.map(
    (result, index) => markup`<figure>${graphPlot(`graph-${index}`, result, layout, mostRate)}
${foldedTable({
  caption: 'Each call: attempts, and how many times the usual at worst',
  head: ['call', 'attempts', 'retries', 'worst'],
  rows: result.calls.map((call) => [
    `${call.from ?? 'clients'} → ${call.to}`,
    call.attemptCount,
    call.retryCount,
    `${formatNumber(call.peakLoad)}×`,
  ]),
})}</figure>`,
  );
  const legend = HEATS.map(({ heat, name }) => markup`<li><span class="swatch ${heat}"></span>${name}</li>`);
  return markup`<p class="lead">A line is as thick as the requests a second in the worst five seconds, on one scale for all modes.</p><ul class="legend">${legend}</ul><div${layout.columnCount > NARROW_COLUMNS ? markup` class="stack"` : markup` class="plots"`}>${figures}</div>`;
}
