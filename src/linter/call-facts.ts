import { backoffDelayMs } from '../core/backoff.ts';
import type { Participation } from '../core/ownership/call-graph.ts';
import type { RetryBudgetOptions } from '../core/retry-budget.ts';
import { isIdempotent } from '../core/safety.ts';
import type { Topology, TopologyCall, TopologyOperation } from '../simulator/topology.ts';

/** Who makes a call; a client takes part in everything. */
export function participationOfCaller({ operations, services }: Topology, { from }: TopologyCall): Participation {
  return from === undefined ? 'cooperating' : services[operations[from]!.service]!.participation;
}

/** A layer that retries between a service and what it calls: `~` is in no name of a file. */
export function isLayer({ name }: TopologyOperation): boolean {
  return name.includes('~');
}

/** `shop/buy`, or `the client` */
export function callerName({ operations }: Topology, { from }: TopologyCall): string {
  return from === undefined ? 'the client' : operations[from]!.name;
}

/** Whether doing its work twice is the same as doing it once, or can be noticed. */
export function isRepeatable({ method, keyed }: TopologyOperation): boolean {
  return keyed || isIdempotent(method);
}

/** Whether the policy retries what may have run: only a repeatable request may be sent again then. */
export function retriesAmbiguous({ policy }: TopologyCall): boolean {
  const { maxRetries, codes, on } = policy;
  return maxRetries > 0 && (codes.size > 0 || on.has('reset') || on.has('timeout') || on.has('stale'));
}

/** Whether it retries what a service says that could not reach its own callee. */
export function retriesRelayed({ policy }: TopologyCall): boolean {
  return policy.maxRetries > 0 && (policy.on.has('timeout') || [...policy.codes].some((code) => code >= 500));
}

/** Retries for each call that a budget lets through in the long run; the minimum rate is no share of anything. */
export function retryShareOf(budget: RetryBudgetOptions): number {
  switch (budget.kind) {
    case 'none':
      return Infinity;
    case 'throttle':
      // Each failure takes one token, each success gives so many: more retries than that empty the bucket.
      return budget.tokenRatio ?? 0.1;
    case 'ratio':
    case 'token-bucket':
      return (budget.percent ?? 20) / 100;
  }
}

/** How long one attempt may take; Infinity for no limit. */
export function attemptLimitMs({ timeouts: { requestMs, attemptMs } }: TopologyCall): number {
  return Math.min(limit(requestMs), limit(attemptMs));
}

/** How long a call may take with all its retries and waits; Infinity for no limit. */
export function callLimitMs({ timeouts: { requestMs, attemptMs }, policy }: TopologyCall): number {
  const attempts = (policy.maxRetries + 1) * limit(attemptMs);
  return Math.min(limit(requestMs), attempts + longestWaitsMs(policy, policy.maxRetries));
}

/** The longest that the waits before so many retries can take together. */
export function longestWaitsMs({ backoff }: TopologyCall['policy'], retryCount: number): number {
  let sumMs = 0;
  let delayMs = 0;
  for (let retry = 0; retry < retryCount; retry += 1) {
    delayMs = backoffDelayMs(backoff, retry, 1, delayMs);
    sumMs += delayMs;
  }
  return sumMs;
}

function limit(ms: number): number {
  return ms === 0 ? Infinity : ms;
}
