export { formatReport } from './format-report.ts';
export { githubAnnotations } from './github-annotations.ts';
export { lint } from './lint.ts';
export { isRuleId, RULES } from './rule-id.ts';

export type { StormRadius } from '../core/ownership/storm-radius.ts';
export type { Finding } from './finding.ts';
export type { LintOptions, LintReport, RootReport } from './lint.ts';
export type { LintLimits } from './lint-limits.ts';
export type { RuleId } from './rule-id.ts';
export type { StormReading } from './storm-reading.ts';
