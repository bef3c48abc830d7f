/**
 * `npm run lab:chain [-- [--json] [ID …]]`: runs the chains of docs/chain-lab.md, real services in processes of their own,
 * prints what each must get and what it got, and writes the numbers of the document. Exits 1 when one is not met. Ends its
 * services by itself, whatever happens, and itself after ten minutes.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sectionOf, withSection } from './storms/document.ts';
import { experiments } from './chain/all.ts';
import { DOCUMENT, MEASURED, measuredText, readMeasured, sectionFor } from './chain/document.ts';
import { isMet, type Judgement, type Measured } from './chain/experiment.ts';
import { ServicePool } from './chain/service-pool.ts';

const LIMIT_MS = 600_000;

const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true });
const chosen = experiments.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
const say = values.json === true ? (): void => {} : (line: string): void => console.log(line);
if (chosen.length === 0) {
  console.error(`no such experiment; known: ${experiments.map(({ id }) => id).join(', ')}`);
  process.exitCode = 1;
}

const controller = new AbortController();
const end = (why: string): void => controller.abort(new Error(why));
const timer = setTimeout(() => end(`not through after ${LIMIT_MS / 1000} s`), LIMIT_MS);
process.once('SIGINT', () => end('ended by SIGINT'));
process.once('SIGTERM', () => end('ended by SIGTERM'));

const all: Record<string, Record<string, Measured>> = structuredClone(readMeasured());
const judged: Record<string, Record<string, Judgement>> = {};
const pool = new ServicePool();
try {
  for (const experiment of chosen) {
    await pool.keepOnly(new Set(experiment.cases.flatMap(({ kinds }) => kinds)));
    const measured: Record<string, Measured> = {};
    const judgements: Record<string, Judgement> = {};
    for (const one of experiment.cases) {
      const startedAtMs = performance.now();
      const counted = await one.measure(pool, controller.signal);
      const judgement = one.judge(counted);
      measured[one.name] = counted;
      judgements[one.name] = judgement;
      const spentMs = Math.round(performance.now() - startedAtMs);
      say(`${isMet(judgement) ? '✔' : '✖'} ${experiment.id}: ${one.name} (${spentMs} ms)`);
      for (const { source, values: loads, holds } of judgement.loads)
        say(`    ${holds.every(Boolean) ? ' ' : '✖'} ${source.padEnd(10)}${loads.map(shown).join('')}`);
      for (const { what, expected, measured: found, holds } of judgement.rows)
        say(`    ${holds ? ' ' : '✖'} ${what}: ${found} (expected ${expected})`);
      if (!isMet(judgement)) process.exitCode = 1;
    }
    all[experiment.id] = measured;
    judged[experiment.id] = judgements;
  }
  if (values.json === true) console.log(JSON.stringify({ measured: all, judged }, undefined, 2));
  write();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  clearTimeout(timer);
  await pool.close();
}

function write(): void {
  let document = readFileSync(DOCUMENT, 'utf8');
  for (const experiment of chosen) {
    const section = sectionFor(experiment, (name) => judged[experiment.id]![name]!);
    if (sectionOf(document, experiment.id) !== section) document = withSection(document, experiment.id, section);
  }
  writeFileSync(DOCUMENT, document);
  mkdirSync('docs/chain-lab', { recursive: true });
  writeFileSync(MEASURED, measuredText(all));
}

function shown(load: number): string {
  return String(Math.round(load * 1000) / 1000).padStart(8);
}
