import type { Failure } from '../core/failure.ts';
import { createHedgePolicy } from '../core/hedging.ts';
import type { HedgePolicy } from '../core/hedging.ts';
import type { Ruling } from '../core/outcome.ts';
import { fieldValue } from '../http1/field-list.ts';
import type { ResponseHead } from '../http1/message.ts';
import type { AttemptTimeouts } from '../transport/transport.ts';
import type { CallRules } from './call-rules.ts';
import type { Classifier } from './classifier.ts';
import { NO_HEADERS } from './classifier.ts';
import type { DispatchOptions, DispatchRequest } from './dispatch-request.ts';
import { CLIENT_DEFAULTS, NEVER_RULES } from './options.ts';
import type { RetryRules } from './options.ts';
import type { Destination } from './origin-book.ts';

/** What is to be done for one request. */
export interface RequestPlan {
  readonly options: DispatchOptions;
  /** Read from the options. */
  readonly request: DispatchRequest;
  readonly rules: CallRules;
  readonly destination: Destination;
  readonly deadlineAtMs: number;
}

/** The whole URL of a request. */
export function uriOf({ request, destination }: RequestPlan): string {
  const { target } = request;
  return target.startsWith('/') ? `${destination.origin.key}${target}` : target;
}

/** The retry rules of a request; what is out of their scope is sent exactly once. */
export function retryRulesFor(plan: RequestPlan): RetryRules {
  const { retry } = plan.rules;
  return retry.isInScope === undefined || retry.isInScope(new URL(uriOf(plan))) ? retry : NEVER_RULES;
}

/** The times of an attempt: undici's options of a request come before ours. */
export function timeoutsFor({ rules: { timeout }, options }: RequestPlan): AttemptTimeouts {
  const { headersTimeout, bodyTimeout } = options;
  if ((headersTimeout ?? bodyTimeout ?? undefined) === undefined) return timeout;
  return { ...timeout, attemptMs: headersTimeout ?? timeout.attemptMs, idleMs: bodyTimeout ?? timeout.idleMs };
}

/** `undefined` while too little is known of an origin for a percentile to mean anything. */
export function hedgePolicyFor({ rules: { hedge }, destination }: RequestPlan): HedgePolicy | undefined {
  const { latency, upstream } = destination;
  if (hedge === undefined) return undefined;
  const { percentile, max = 1 } = hedge;
  if (percentile !== undefined && latency.count < CLIENT_DEFAULTS.hedgeSampleCount) return undefined;
  const delayMs = hedge.delayMs ?? Math.max(1, Math.ceil(latency.percentile(percentile ?? 0)));
  // An origin known by its name alone: behind it there may be many servers, and a copy is worth its while.
  return { ...createHedgePolicy({ delayMs, max }), sameEndpoint: upstream.endpoints.length === 1 };
}

/** A classifier as the engine asks it. */
export function rulingBy(
  classify: Classifier | undefined,
  plan: RequestPlan,
): ((head: ResponseHead | undefined, failure: Failure | undefined) => Ruling | undefined) | undefined {
  if (classify === undefined) return undefined;
  const { method } = plan.request;
  const uri = uriOf(plan);
  return (head, failure) => {
    const headers = head === undefined ? NO_HEADERS : { get: (name: string) => fieldValue(head.fields, name) ?? null };
    return classify({ method, uri, status: head?.status, headers, failure });
  };
}
