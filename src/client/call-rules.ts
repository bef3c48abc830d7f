import { randomUUID } from 'node:crypto';
import type { RetryBudget } from '../core/retry-budget.ts';
import { isIdempotent } from '../core/safety.ts';
import { resolveHedge, resolveRetry, resolveTimeout } from './options.ts';
import type { CallOptions, HedgeOptions, ResolvedTimeout, RetryRules } from './options.ts';
import type { Origin } from './origin.ts';
import type { OriginBook } from './origin-book.ts';

/** What holds for one request, the client's word and the call's put together. */
export interface CallRules {
  readonly retry: RetryRules;
  readonly timeout: ResolvedTimeout;
  readonly hedge: HedgeOptions | undefined;
  /** One that only this call, and who shares it, spends from; `undefined` for that of the origin. */
  readonly budget: RetryBudget | undefined;
  readonly idempotencyKey: CallOptions['idempotencyKey'];
  /** Those that stand in for the request's own. */
  readonly endpoints: readonly Origin[] | undefined;
}

/** Whether a call says something of its own. */
export function saysSomething({ retry, timeout, hedge, budget, idempotencyKey, endpoints }: CallOptions): boolean {
  const isSilent = retry === undefined && timeout === undefined && hedge === undefined;
  return !isSilent || budget !== undefined || idempotencyKey !== undefined || endpoints !== undefined;
}

/**
 * A call's word over the client's.
 * @throws RangeError or TypeError for a value that cannot be, naming the field
 */
export function callRules(base: CallRules, call: CallOptions, book: OriginBook): CallRules {
  const { retry, timeout, hedge, budget, idempotencyKey, endpoints } = call;
  return {
    retry: retry === undefined ? base.retry : resolveRetry(retry),
    timeout: resolveTimeout(timeout, base.timeout),
    hedge: hedge === undefined ? base.hedge : resolveHedge(hedge),
    budget: budget === undefined ? base.budget : requireShared(budget),
    idempotencyKey: idempotencyKey ?? base.idempotencyKey,
    endpoints: endpoints === undefined ? base.endpoints : readEndpoints(endpoints, book),
  };
}

/** @throws TypeError for what is no http or https URL, or when there is none */
export function readEndpoints(endpoints: readonly (string | URL)[], book: OriginBook): readonly Origin[] {
  if (!Array.isArray(endpoints) || endpoints.length === 0)
    throw new TypeError('endpoints: give a list of at least one URL');
  return endpoints.map((one: string | URL) => book.origin(one));
}

/** A budget that began with its only request could refuse nothing. */
function requireShared(budget: NonNullable<CallOptions['budget']>): RetryBudget {
  if (typeof budget === 'object' && 'withdraw' in budget) return budget;
  throw new TypeError('budget: for a call, give one that createBudget made');
}

/** The key of a request that has none and needs one. @throws TypeError when a function gives no text */
export function idempotencyKeyFor(method: string, wanted: CallOptions['idempotencyKey']): string | undefined {
  return wanted === undefined || isIdempotent(method) ? undefined : createIdempotencyKey(wanted);
}

/** @throws TypeError when a function gives no text */
export function createIdempotencyKey(wanted: NonNullable<CallOptions['idempotencyKey']>): string {
  if (wanted === true) return randomUUID();
  const key: unknown = typeof wanted === 'function' ? wanted() : wanted;
  if (typeof key === 'string' && key !== '') return key;
  throw new TypeError('idempotencyKey: give true, a text that is not empty, or a function that gives one');
}
