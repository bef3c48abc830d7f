import type { RuleId } from './rule-id.ts';

/** Something in a topology that multiplies an outage, or cannot do what it is there for. */
export interface Finding {
  readonly rule: RuleId;
  /** `error`: a limit that was asked for is exceeded, or work may be done twice. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
  /** `workload.roots[0]` */
  readonly path: string;
  readonly message: string;
  /** What to do, with the numbers that would be right. */
  readonly hint: string;
  /** It exceeds a limit that the caller of the linter set. */
  readonly exceedsLimit: boolean;
}

/** What a rule found, before its place in the file is known. */
export interface RuleFinding {
  readonly rule: RuleId;
  readonly severity?: 'error' | 'warning';
  /** Index of the call that it is about. */
  readonly call: number;
  readonly message: string;
  readonly hint: string;
  readonly exceedsLimit?: boolean;
}
