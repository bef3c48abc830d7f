import { createCircuitBreaker, type CircuitBreaker } from '../core/circuit-breaker.ts';
import { isRetrySuppressed, type StopReason } from '../core/decision.ts';
import { createPermits, type Permits } from '../core/permits.ts';
import { createRetryBudget, type RetryBudget } from '../core/retry-budget.ts';
import type { OperationState } from './operation-state.ts';
import type { RequestSession } from '../core/request-session.ts';
import type { RootState } from './root-state.ts';
import { Series } from './series.ts';
import type { Topology, TopologyCall } from './topology.ts';
import { callerOf } from './mode.ts';

/** A call of the topology while it is simulated: its budget, permits and circuit, shared by all requests that make it. */
export class CallState {
  readonly spec: TopologyCall;
  readonly to: OperationState;
  readonly budget: RetryBudget;
  readonly permits: Permits;
  readonly breaker: CircuitBreaker | undefined;
  /** Deadline and lineage of the request that it is made for are known where it is made. */
  readonly inherits: boolean;
  readonly tellsDeadline: boolean;
  readonly tellsLineage: boolean;
  /** As `RequestFacts.deadlinePassedOn` has it. */
  readonly deadlinePassedOn: boolean | undefined;
  readonly hasChoice: boolean;
  /** For the call of a client: whose. */
  root: RootState | undefined = undefined;
  callCount = 0;
  readonly attempts: Series;
  /** Sends beyond the first. */
  retryCount = 0;
  /** Why calls ended without success. */
  readonly stopCounts: Map<StopReason, number> = new Map();
  /** The same of those that the policy would have retried once more. */
  readonly suppressedCounts: Map<StopReason, number> = new Map();
  successCount = 0;

  /** @throws RangeError when a number of its budget or circuit is out of range */
  constructor(spec: TopologyCall, to: OperationState, topology: Topology, intervalMs: number) {
    const { participation } = callerOf(topology, spec);
    const { propagate } = topology.deadlines;
    this.spec = spec;
    this.to = to;
    this.attempts = new Series(intervalMs);
    this.budget = createRetryBudget(spec.budget);
    this.permits = createPermits(spec.maxInflightRequests);
    this.breaker = spec.breaker === undefined ? undefined : createCircuitBreaker(spec.breaker);
    this.inherits = participation === 'cooperating';
    this.tellsDeadline = propagate && participation !== 'legacy';
    this.tellsLineage = topology.tellsLineage && participation !== 'legacy';
    const takesPart = topology.ownership !== 'off' && participation !== 'legacy';
    this.deadlinePassedOn = this.tellsDeadline ? true : takesPart ? false : undefined;
    this.hasChoice = to.service.instances.length > 1;
  }

  /** @returns whether it ended because something took a retry away */
  stopped({ stopReason, retryCount }: RequestSession): boolean {
    if (stopReason === undefined) return false;
    countIn(this.stopCounts, stopReason);
    if (retryCount >= this.spec.policy.maxRetries || !isRetrySuppressed(stopReason)) return false;
    countIn(this.suppressedCounts, stopReason);
    return true;
  }
}

function countIn(counts: Map<StopReason, number>, reason: StopReason): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}
