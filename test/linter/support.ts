import assert from 'node:assert/strict';
import { formatFault } from '../../src/config/fault.ts';
import { lint, type LintOptions, type LintReport } from '../../src/linter/lint.ts';
import { readSource } from '../../src/simulator/read-source.ts';
import type { SourceFormat, TopologySource } from '../../src/simulator/topology-source.ts';

export function sourceOf(text: string, format?: SourceFormat): TopologySource {
  const reading = readSource(text, 't.yaml', format);
  assert.ok(reading.ok, reading.ok ? '' : reading.faults.map(formatFault).join('\n'));
  return reading.source;
}

export function lintText(text: string, options: LintOptions = {}): LintReport {
  return lint(sourceOf(text), options);
}

/** `line:column severity rule: message (hint)`, a line each. */
export function told({ findings }: LintReport): string[] {
  return findings.map(
    ({ line, column, severity, rule, message, hint }) => `${line}:${column} ${severity} ${rule}: ${message} (${hint})`,
  );
}

/** The settings of a chain that is fine: what a test is not about, it does not find. */
export interface DrawnChain {
  readonly names: string;
  /** Retries of each hop. */
  readonly attempts?: number;
  readonly settings?: string;
  /** Of the call from a service, by its name. */
  readonly calls?: Readonly<Record<string, string>>;
  readonly services?: Readonly<Record<string, string>>;
}

/** Services in a row; each calls the next. */
export function chain({ names, attempts = 1, settings = '', calls = {}, services = {} }: DrawnChain): string {
  const rows = [...names].map((name, index) => {
    const next = names[index + 1];
    const made =
      next === undefined ? '' : `, calls: [{ to: ${next}${calls[name] === undefined ? '' : `, ${calls[name]}`} }]`;
    return `  ${name}: { ${services[name] === undefined ? '' : `${services[name]}, `}operations: { get: { serviceTime: 1ms${made} } } }`;
  });
  return [
    settings,
    'defaults:',
    '  timeouts: { request: 4s, backendRequest: 1s }',
    `  retry: { attempts: ${attempts}, codes: [500, 502, 503, 504], on: [unsent, timeout] }`,
    '  retryBudget: { percent: 10 }',
    'services:',
    ...rows,
    `workload: { roots: [{ operation: ${names[0]!}, rate: 10, timeouts: { request: 60s } }] }`,
  ].join('\n');
}
