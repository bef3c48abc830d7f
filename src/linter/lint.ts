import type { Topology } from '../simulator/topology.ts';
import type { TopologySource } from '../simulator/topology-source.ts';
import type { Finding, RuleFinding } from './finding.ts';
import type { LintLimits } from './lint-limits.ts';
import type { RuleId } from './rule-id.ts';
import { amplificationFindings } from './rules/amplification-rule.ts';
import { hiddenLayerFindings, noBudgetFindings, unsafeRetryFindings } from './rules/retry-rules.ts';
import { stormRadiusFindings } from './rules/storm-radius-rule.ts';
import { noTimeoutFindings, noTimeToRetryFindings, timeoutOrderFindings } from './rules/timeout-rules.ts';
import { silenced } from './silence.ts';
import { type StormReading, stormReadings } from './storm-reading.ts';

export interface LintOptions extends LintLimits {
  /** Rules that are not told. */
  readonly ignore?: Iterable<RuleId> | undefined;
}

/** What the linter says about one file. */
export interface LintReport {
  readonly file: string;
  readonly format: TopologySource['format'];
  /** In the order of the file. */
  readonly roots: readonly RootReport[];
  /** Ordered by place. */
  readonly findings: readonly Finding[];
  /** How many findings were taken away, by remarks in the file or by `ignore`. */
  readonly silencedCount: number;
  /** What was assumed because the file does not tell it. */
  readonly assumptions: readonly string[];
}

/** The worst that retries can do below one root. */
export interface RootReport {
  readonly operation: string;
  /** By the rules of the file. */
  readonly now: StormReading;
  /** If nobody obeyed claims. */
  readonly withoutOwnership: StormReading;
  /** If everybody who can obeyed them. */
  readonly withOwnership: StormReading;
}

/** Looks for what multiplies an outage, without running anything. */
export function lint(source: TopologySource, options: LintOptions = {}): LintReport {
  const { topology, file, format, assumptions, untold } = source;
  const now = stormReadings(topology, 'file');
  const withoutOwnership = stormReadings(topology, 'retries');
  const withOwnership = stormReadings(topology, 'ownership');
  const isBudgetKnown = !untold.has('budgets');
  const found: RuleFinding[] = [
    ...stormRadiusFindings(topology, now, withOwnership, options),
    ...(isBudgetKnown || options.maxAmplification !== undefined ? amplificationFindings(topology, now, options) : []),
    ...(isBudgetKnown ? noBudgetFindings(topology) : []),
    ...hiddenLayerFindings(topology),
    ...unsafeRetryFindings(topology, format, untold),
    ...(untold.has('timeouts') ? [] : timeoutFindings(topology)),
  ];
  const { findings, silencedCount } = silenced(
    found.map((finding) => placed(finding, source)),
    file,
    source.lines,
    new Set(options.ignore),
  );
  return {
    file,
    format,
    roots: topology.roots.map(({ operation }, index) => ({
      operation: topology.operations[operation]!.name,
      now: now[index]!,
      withoutOwnership: withoutOwnership[index]!,
      withOwnership: withOwnership[index]!,
    })),
    findings: findings.toSorted((a, b) => a.line - b.line || a.column - b.column),
    silencedCount,
    assumptions,
  };
}

function timeoutFindings(topology: Topology): RuleFinding[] {
  return [...timeoutOrderFindings(topology), ...noTimeoutFindings(topology), ...noTimeToRetryFindings(topology)];
}

function placed(finding: RuleFinding, source: TopologySource): Finding {
  const { rule, severity = 'warning', call, message, hint, exceedsLimit = false } = finding;
  const { line, column, path } = source.placeOfCall(call);
  return { rule, severity, file: source.file, line, column, path, message, hint, exceedsLimit };
}
