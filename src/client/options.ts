import { MAX_DELAY_MS } from '../core/deadline.ts';
import { createHedgePolicy } from '../core/hedging.ts';
import { requireWholeNumber } from '../core/require-whole-number.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { RetryBudget, RetryBudgetOptions } from '../core/retry-budget.ts';
import { createRetryPolicy } from '../core/retry-policy.ts';
import type { RetryPolicy, RetryPolicyOptions, RetryTrigger } from '../core/retry-policy.ts';
import { DEFAULT_RETRY_POLICY } from '../core/presets/default.ts';
import type { AttemptTimeouts } from '../transport/transport.ts';
import { firstOf } from './classifier.ts';
import type { Classifier } from './classifier.ts';
import { createScopeTest } from './scope.ts';
import type { Scope, ScopeTest } from './scope.ts';

/** When a request is sent again. Every field has a default: see `CLIENT_DEFAULTS`. */
export interface RetryOptions extends RetryPolicyOptions {
  /** What an attempt's end means, where status codes do not tell. The first that says something decides. */
  readonly classify?: Classifier | readonly Classifier[] | undefined;
  /** Which requests this is for; any other is sent exactly once. Default: all. */
  readonly scope?: Scope | undefined;
  /**
   * `false` gives up the retry of what the server proved not to have processed (421, 425, refused HTTP/2 streams). It
   * stays on whatever `on` and `classify` say, for it is always safe. Default true.
   */
  readonly protocolNacks?: boolean | undefined;
}

/** All in milliseconds; 0 switches one off. */
export interface TimeoutOptions {
  /** The whole request up to the response head, waits and retries and redirects included. Default 300 000. */
  readonly requestMs?: number | undefined;
  /** One attempt, from the request sent to the first byte of the response head. Default: off. */
  readonly attemptMs?: number | undefined;
  /** Name lookup, TCP and TLS together. Default 10 000. */
  readonly connectMs?: number | undefined;
  /** Longest silence while a response body streams, or while a request body meets no taker. Default 300 000. */
  readonly idleMs?: number | undefined;
}

/** When a second copy of a request is sent beside a slow first one. One of `delayMs` and `percentile`. */
export interface HedgeOptions {
  /** Milliseconds without a response head, 1–2³¹−1. */
  readonly delayMs?: number | undefined;
  /** After the time in which this share of the origin's latest responses came, 50–99.9. Nothing until there are 20 of them. */
  readonly percentile?: number | undefined;
  /** Copies of one request, 1–10. Default 1. */
  readonly max?: number | undefined;
}

/** What one call may say, and a client for all its calls; the call's word takes the place of the client's. */
export interface CallOptions {
  /** A number is `{ maxRetries }`; `false` is 0: exactly one send. */
  readonly retry?: RetryOptions | number | false | undefined;
  /** A number is `{ requestMs }`. */
  readonly timeout?: TimeoutOptions | number | undefined;
  /** What all retries may add together. A budget made with `createBudget` is shared by all who are given it; a description makes one for each origin. */
  readonly budget?: RetryBudget | RetryBudgetOptions | undefined;
  /** Default: no copies. */
  readonly hedge?: HedgeOptions | false | undefined;
  /**
   * Adds `Idempotency-Key` to a POST, PATCH or other request that is not idempotent by itself, so that it may be repeated:
   * `true` makes a key, a function gives one, a string is one (for one call only). All attempts of a request carry the
   * same key. A key that the request has already stays. The server must honour it.
   */
  readonly idempotencyKey?: true | string | (() => string) | undefined;
  /**
   * Origins that answer the same requests. A call goes to its own origin first, then to those here that it did not try.
   * Given to a client, it counts for requests to one of them only.
   */
  readonly endpoints?: readonly (string | URL)[] | undefined;
}

/** Every default in one place. */
export const CLIENT_DEFAULTS: {
  readonly timeout: Required<{ [K in keyof TimeoutOptions]: number }>;
  readonly headMs: number;
  readonly replayBufferBytes: number;
  readonly replayMemoryBytes: number;
  readonly hedgeSampleCount: number;
} = {
  timeout: { requestMs: 300_000, attemptMs: 0, connectMs: 10_000, idleMs: 300_000 },
  headMs: 10_000,
  replayBufferBytes: 65_536,
  replayMemoryBytes: 67_108_864,
  hedgeSampleCount: 20,
};

/** A retry policy with all that is decided outside of core. */
export interface RetryRules {
  readonly policy: RetryPolicy;
  readonly classify: Classifier | undefined;
  /** `undefined`: for every request. */
  readonly isInScope: ScopeTest | undefined;
}

/** For what is out of a policy's scope: exactly one send. */
export const NEVER_RULES: RetryRules = {
  policy: createRetryPolicy({ maxRetries: 0 }),
  classify: undefined,
  isInScope: undefined,
};

/** @throws RangeError or TypeError for a value that cannot be, naming the field */
export function resolveRetry(retry: CallOptions['retry']): RetryRules {
  if (retry === false) return NEVER_RULES;
  if (typeof retry === 'number') return resolveRetry({ maxRetries: retry });
  requireObject('retry', retry);
  const { classify, scope, protocolNacks = true, ...policy } = retry ?? {};
  requireNames('retry', policy, POLICY_NAMES);
  if (typeof protocolNacks !== 'boolean') throw new TypeError('retry.protocolNacks: give true or false');
  const on = new Set<RetryTrigger>(policy.on ?? DEFAULT_RETRY_POLICY.on);
  if (protocolNacks) on.add('rejected');
  else on.delete('rejected');
  return {
    policy: createRetryPolicy({ ...policy, on }),
    classify: resolveClassifier(classify),
    isInScope: createScopeTest(scope),
  };
}

function resolveClassifier(classify: RetryOptions['classify']): Classifier | undefined {
  if (classify === undefined || typeof classify === 'function') return classify;
  if (!Array.isArray(classify) || !classify.every((one) => typeof one === 'function'))
    throw new TypeError('retry.classify: give a function or a list of functions');
  return firstOf(...(classify as readonly Classifier[]));
}

/** @throws RangeError or TypeError for a value that cannot be, naming the field */
export function resolveTimeout(
  timeout: CallOptions['timeout'],
  base: ResolvedTimeout = DEFAULT_TIMEOUT,
): ResolvedTimeout {
  if (timeout === undefined) return base;
  if (typeof timeout === 'number') return resolveTimeout({ requestMs: timeout }, base);
  requireObject('timeout', timeout);
  requireNames('timeout', timeout, TIMEOUT_NAMES);
  const own = Object.fromEntries(Object.entries(timeout).filter(([, value]) => value !== undefined));
  const resolved: ResolvedTimeout = { ...base, ...own };
  for (const name of TIMEOUT_NAMES) {
    const value = resolved[name];
    if (typeof value !== 'number' || !(value >= 0 && value <= MAX_DELAY_MS))
      throw new RangeError(`timeout.${name} is ${String(value)}; give milliseconds from 0 (off) to ${MAX_DELAY_MS}`);
  }
  const { requestMs, attemptMs } = resolved;
  if (requestMs === 0 || attemptMs <= requestMs) return resolved;
  // A call with less time than its client's attempts have means all of it.
  if (own['attemptMs'] === undefined) return { ...resolved, attemptMs: requestMs };
  throw new RangeError(
    `timeout.attemptMs (${attemptMs}) is longer than timeout.requestMs (${requestMs}); an attempt cannot outlast its request`,
  );
}

/** The attempt's times, and the request's. */
export type ResolvedTimeout = AttemptTimeouts & { readonly requestMs: number };

const DEFAULT_TIMEOUT: ResolvedTimeout = { ...CLIENT_DEFAULTS.timeout, headMs: CLIENT_DEFAULTS.headMs };

/** @throws RangeError or TypeError for a value that cannot be, naming the field */
export function resolveHedge(hedge: CallOptions['hedge']): HedgeOptions | undefined {
  if (hedge === undefined || hedge === false) return undefined;
  requireObject('hedge', hedge);
  requireNames('hedge', hedge, ['delayMs', 'percentile', 'max']);
  const { delayMs, percentile, max } = hedge;
  if ((delayMs === undefined) === (percentile === undefined))
    throw new TypeError('hedge: give delayMs or percentile, one of the two');
  if (percentile !== undefined && !(percentile >= 50 && percentile <= 99.9))
    throw new RangeError(`hedge.percentile is ${String(percentile)}; give 50 to 99.9`);
  createHedgePolicy({ delayMs: delayMs ?? 1, max: max ?? 1 });
  return hedge;
}

/**
 * A budget to share: everybody who is given it spends from the same.
 * @throws RangeError for a value outside its range, naming it
 */
export function createBudget(options?: RetryBudgetOptions): RetryBudget {
  return createRetryBudget(options);
}

/** @returns a function that gives the budget of a new origin */
export function resolveBudget(budget: CallOptions['budget']): () => RetryBudget {
  if (budget === undefined) return () => createRetryBudget();
  requireObject('budget', budget);
  if ('withdraw' in budget) return () => budget;
  // A fault shows now, and not at the first request.
  createRetryBudget(budget);
  return () => createRetryBudget(budget);
}

/** @throws RangeError when it is not a whole number of bytes from 0 */
export function requireBytes(field: string, value: number): number {
  requireWholeNumber('client', field, value, 0, Number.MAX_SAFE_INTEGER);
  return value;
}

/** @throws TypeError for a name that nothing reads: a typing error would silently change nothing */
export function requireNames(owner: string, options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw new TypeError(`${owner}: there is no option ${JSON.stringify(name)}; there are ${names.join(', ')}`);
  }
}

function requireObject(field: string, value: unknown): void {
  if (value !== undefined && (typeof value !== 'object' || value === null))
    throw new TypeError(`${field} is ${value === null ? 'null' : typeof value}; give an object`);
}

const TIMEOUT_NAMES = ['requestMs', 'attemptMs', 'connectMs', 'idleMs'] as const;
/** What a policy says of pace, whatever it is that is retried. */
export const PACE_NAMES: readonly string[] = [
  'curve',
  'backoffMs',
  'maxBackoffMs',
  'jitter',
  'retryAfterMaxMs',
  'retryOfRetry',
];

const POLICY_NAMES: readonly string[] = ['maxRetries', 'codes', 'grpcStatuses', 'on', ...PACE_NAMES, 'ownership'];
