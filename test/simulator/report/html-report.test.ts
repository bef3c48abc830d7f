import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { htmlReport } from '../../../src/simulator/report/html-report.ts';
import type { SimulationResult } from '../../../src/simulator/result.ts';
import { createSimulation, simulate } from '../../../src/simulator/simulation.ts';
import { chromiumPath, NO_CHROMIUM, openPage } from '../../support/chromium.ts';
import { chain, topologyOf } from '../support.ts';

const topology = topologyOf(
  chain({
    length: 4,
    budgetPercent: 10,
    workload: 'workload: { duration: 30s, roots: [{ operation: A, rate: 100 }] }',
    faults: 'faults: [{ at: 10s, for: 10s, service: D, errorPercent: 100, status: 503 }]',
  }),
);
const results: readonly SimulationResult[] = (['retries', 'budget', 'ownership'] as const).map((mode) =>
  simulate(topology, { mode }),
);
const report = htmlReport(results, { title: 'shop.yaml' });

test('a report has a verdict for each mode, every plot, and a table beside each', () => {
  assert.equal(report.match(/class="verdict">amplification \d\.\d+x at D\/get; recovers/g)?.length, 3);
  for (const title of ['Goodput', 'Load of D/get, where it grows most', 'Retries of all calls', 'Waiting for a worker'])
    assert.ok(report.includes(`>${title}`), title);
  const plotCount = report.match(/<svg /g)!.length;
  assert.equal(plotCount, 4 + 1 + 3);
  assert.equal(report.match(/<title id=/g)?.length, plotCount);
  assert.equal(report.match(/<desc id=/g)?.length, plotCount);
  assert.ok(report.match(/<table>/g)!.length >= plotCount);
});

test('ids are unique, and whatever names a heading or title names one that exists', () => {
  const ids = [...report.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
  assert.equal(new Set(ids).size, ids.length);
  for (const [, list] of report.matchAll(/aria-labelledby="([^"]+)"/g))
    for (const id of list!.split(' ')) assert.ok(ids.includes(id), id);
});

test('a report loads nothing and runs nothing', () => {
  assert.doesNotMatch(report, /<script|<link rel="stylesheet|@import|url\(|https?:\/\//);
  assert.match(report, /Content-Security-Policy" content="default-src 'none'/);
});

test('no number of a report is missing or endless', () => {
  assert.doesNotMatch(report, /NaN|Infinity|undefined/);
});

test('text of a file cannot become markup', () => {
  const hostile = htmlReport(results, { title: '<img src=x onerror="alert(1)">&\'' });
  assert.ok(hostile.includes('<h1>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;</h1>'));
  assert.doesNotMatch(hostile, /<img/);
});

test('the same results give the same page', () => {
  assert.equal(htmlReport(results, { title: 'shop.yaml' }), report);
});

test('a run that was ended early is marked, with what was not run', () => {
  const simulation = createSimulation(topology, { mode: 'retries' });
  simulation.advance(5000);
  const page = htmlReport([simulation.result()], { title: 'x', notRun: ['ownership'] });
  assert.match(
    page,
    /class="notice" role="note">A part only, ended early: retries ended after \d+.* of 30 s; ownership was not run\./,
  );
  assert.doesNotMatch(report, /class="notice"/);
});

test('a line of one interval, one that has not ended, is drawn at its rate', () => {
  const simulation = createSimulation(topology, { durationMs: 500 * 3_600_000 });
  simulation.advance(20_000);
  const page = htmlReport([simulation.result()], { title: 'x' });
  const [, goodput] = /<path class="line line-0" d="M58 ([\d.]+)H628"/.exec(page) ?? [];
  // Its scale goes from 0 at 266 to 100 at 74; about 100 a second are answered but while D fails.
  assert.ok(Number(goodput) < 200, goodput);
});

test('what was assumed stands at the top', () => {
  const page = htmlReport(results, { title: 'x', assumptions: ['no <timeouts>'] });
  assert.match(page, /<li>no &lt;timeouts&gt;<\/li><\/ul><\/header>/);
  assert.doesNotMatch(report, /Assumed/);
});

test('a run of a moment, in which nothing happened, has a report', () => {
  const page = htmlReport([simulate(topology, { durationMs: 1 })], { title: 'x' });
  assert.match(page, /no amplification/);
  assert.doesNotMatch(page, /NaN|Infinity/);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(
    `a browser shows the report in its ${colorScheme} colours, with every line drawn and nothing to complain of`,
    { skip: chromiumPath === undefined ? NO_CHROMIUM : false },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'mulligan-report-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const path = join(folder, 'report.html');
      writeFileSync(path, report);
      const { page, complaints, requests } = await openPage(t, path, colorScheme);
      const seen = await page.evaluate(`({
        paper: getComputedStyle(document.body).backgroundColor,
        lines: [...document.querySelectorAll('path.line')].map((line) => line.getTotalLength()),
        outside: [...document.querySelectorAll('svg')].filter((svg) =>
          [...svg.querySelectorAll('text, rect, path')].some((part) => {
            const box = part.getBBox();
            const view = svg.viewBox.baseVal;
            return box.x < -1 || box.y < -1 || box.x + box.width > view.width + 1 || box.y + box.height > view.height + 1;
          })).map((svg) => svg.querySelector('title').textContent),
        wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
      })`);
      const { paper, lines, outside, wide } = seen as {
        readonly paper: string;
        readonly lines: readonly number[];
        readonly outside: readonly string[];
        readonly wide: boolean;
      };
      assert.deepEqual([complaints, requests], [[], []]);
      assert.equal(paper, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 24, 31)');
      assert.equal(lines.length, 4 * 3);
      assert.ok(
        lines.every((length) => length > 400),
        String(lines),
      );
      assert.deepEqual(outside, [], 'nothing is cut off');
      assert.equal(wide, false, 'the page does not scroll sideways');
    },
  );
}
