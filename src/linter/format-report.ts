import { textTable } from '../simulator/text-table.ts';
import type { Finding } from './finding.ts';
import type { LintReport, RootReport } from './lint.ts';
import { factor, pathText } from './words.ts';

/** A report for people: the roots in a table, then the findings, each with its place, its rule and what to do. */
export function formatReport(report: LintReport): string {
  const { file, roots, findings, silencedCount, assumptions } = report;
  const silent = silencedCount === 0 ? '' : `, ${silencedCount} silenced`;
  const lines = [
    `${file}: ${counted(roots.length, 'root')}, ${counted(findings.length, 'finding')}${silent}`,
    ...assumptions.map((assumption) => `  assumed: ${assumption}`),
    '',
    ...rootTable(roots),
    ...findings.map(findingText),
  ];
  return `${lines.join('\n')}\n`;
}

/** The path comes last, as long as it may be: a column for it would push the numbers apart. */
function rootTable(roots: readonly RootReport[]): string[] {
  const head = ['root', 'radius', 'amplification', 'with budgets', 'without ownership', 'with ownership'];
  const paths = ['worst path', ...roots.map(({ now }) => (now.radius === 0 ? 'nobody retries' : pathText(now.path)))];
  return textTable(head, roots.map(rowOf))
    .split('\n')
    .map((line, index) => `${line}  ${paths[index]!}`);
}

function rowOf({ operation, now, withoutOwnership, withOwnership }: RootReport): string[] {
  return [
    operation,
    String(now.radius),
    `${factor(now.amplification)}×`,
    `${factor(now.sustained)}×`,
    `${withoutOwnership.radius}, ${factor(withoutOwnership.amplification)}×`,
    `${withOwnership.radius}, ${factor(withOwnership.amplification)}×`,
  ];
}

function findingText({ file, line, column, severity, rule, path, message, hint }: Finding): string {
  const where = path === '' ? '' : `${path}: `;
  return `\n${file}:${line}:${column} ${severity} ${rule}: ${where}${message}\n    fix: ${hint}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
