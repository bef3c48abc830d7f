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
import type { DispatchOptions } from './dispatch-request.ts';
import { CLIENT_DEFAULTS, NEVER_RULES } from './options.ts';
import type { RetryRules } from './options.ts';
import type { Destination } from './origin-book.ts';

/** The retry rules of a request; what is out of their scope is sent exactly once. */
export function retryRulesFor({ retry }: CallRules, uri: string): RetryRules {
  return retry.isInScope === undefined || retry.isInScope(new URL(uri)) ? retry : NEVER_RULES;
}

/** The times of an attempt: undici's options of a request come before ours. */
export function timeoutsFor({ timeout }: CallRules, { headersTimeout, bodyTimeout }: DispatchOptions): AttemptTimeouts {
  if ((headersTimeout ?? bodyTimeout ?? undefined) === undefined) return timeout;
  return { ...timeout, attemptMs: headersTimeout ?? timeout.attemptMs, idleMs: bodyTimeout ?? timeout.idleMs };
}

/** `undefined` while too little is known of an origin for a percentile to mean anything. */
export function hedgePolicyFor({ hedge }: CallRules, { latency, upstream }: Destination): HedgePolicy | undefined {
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
  method: string,
  uri: string,
): ((head: ResponseHead | undefined, failure: Failure | undefined) => Ruling | undefined) | undefined {
  if (classify === undefined) return undefined;
  return (head, failure) => {
    const headers = head === undefined ? NO_HEADERS : { get: (name: string) => fieldValue(head.fields, name) ?? null };
    return classify({ method, uri, status: head?.status, headers, failure });
  };
}
