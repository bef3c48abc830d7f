/** What the linter looks for, by the name that silences it. */
export type RuleId =
  | 'storm-radius'
  | 'amplification'
  | 'no-budget'
  | 'hidden-layers'
  | 'unsafe-retry'
  | 'timeout-order'
  | 'no-timeout'
  | 'no-time-to-retry'
  | 'unused-ignore';

/** What each rule is about, in a line. */
export const RULES: Readonly<Record<RuleId, string>> = {
  'storm-radius': 'more than one hop of a call path retries the same failure',
  amplification: 'the budgets along a call path together let through more than the limit',
  'no-budget': 'a call retries without a budget',
  'hidden-layers': 'several layers retry one and the same call',
  'unsafe-retry': 'a request that is neither idempotent nor keyed is retried after it may have run',
  'timeout-order': 'a caller gives up before what it calls does',
  'no-timeout': 'a call has no limit of time',
  'no-time-to-retry': 'an attempt that times out leaves no time for its retry',
  'unused-ignore': 'a remark that silences nothing',
};

export function isRuleId(word: string): word is RuleId {
  return Object.hasOwn(RULES, word);
}
