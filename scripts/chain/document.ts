import { readFileSync } from 'node:fs';
import type { Experiment, Judgement, LoadRow, Measured } from './experiment.ts';

export const DOCUMENT = 'docs/chain-lab.md';
/** What the services counted, by experiment and case: what the tables of the document are made of. */
export const MEASURED = 'docs/chain-lab/measured.json';

export type MeasuredFile = Readonly<Record<string, Readonly<Record<string, Measured>>>>;

export function readMeasured(): MeasuredFile {
  return JSON.parse(readFileSync(MEASURED, 'utf8')) as MeasuredFile;
}

/** A line for each service, so that a change of one can be read. */
export function measuredText(file: MeasuredFile): string {
  const text = JSON.stringify(file, undefined, 2);
  return `${text.replaceAll(/\{[^{}[\]]*\}/g, (reading) => reading.replaceAll(/\s+/g, ' '))}\n`;
}

/** The tables of one experiment. */
export function sectionFor({ cases }: Experiment, judgementOf: (name: string) => Judgement): string {
  const judged = cases.map(({ name }) => ({ name, ...judgementOf(name) }));
  const rows = judged.flatMap((one) => one.rows);
  return [loadTable(judged), rowTable(rows)]
    .filter((text) => text !== '')
    .map((text) => `\n${text}\n`)
    .join('');
}

const SOURCES: Readonly<Record<LoadRow['source'], string>> = {
  table: 'design',
  formula: 'formula',
  measured: 'measured',
  simulated: 'simulated',
};

function loadTable(judged: readonly (Judgement & { readonly name: string })[]): string {
  const width = Math.max(...judged.map(({ loads }) => loads[0]?.values.length ?? 0));
  if (width === 0) return '';
  const letters = Array.from({ length: width }, (_, index) => String.fromCodePoint(65 + index));
  return [
    `| load of | | ${letters.join(' | ')} |`,
    `|---|---|${letters.map(() => '---').join('|')}|`,
    ...judged.flatMap(({ name, loads }) =>
      loads.map(({ source, values, holds }, index) => {
        const cells = letters.map((_, at) => cellOf(values[at], holds[at] ?? true));
        return `| ${index === 0 ? name : ''} | ${SOURCES[source]} | ${cells.join(' | ')} |`;
      }),
    ),
  ].join('\n');
}

function cellOf(value: number | undefined, holds: boolean): string {
  if (value === undefined) return '';
  const text = String(Math.round(value * 1000) / 1000);
  return holds ? text : `**${text}**`;
}

function rowTable(rows: Judgement['rows']): string {
  if (rows.length === 0) return '';
  return [
    '| what | expected | measured |',
    '|---|---|---|',
    ...rows.map(
      ({ what, expected, measured, holds }) => `| ${what} | ${expected} | ${holds ? measured : `**${measured}**`} |`,
    ),
  ].join('\n');
}
