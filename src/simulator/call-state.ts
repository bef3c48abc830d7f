import { createCircuitBreaker, type CircuitBreaker } from '../core/circuit-breaker.ts';
import type { StopReason } from '../core/decision.ts';
import { createPermits, type Permits } from '../core/permits.ts';
import { createRetryBudget, type RetryBudget } from '../core/retry-budget.ts';
import type { OperationState } from './operation-state.ts';
import type { RootState } from './root-state.ts';
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
  attemptCount = 0;
  /** Sends beyond the first. */
  retryCount = 0;
  readonly stopCounts: Map<StopReason, number> = new Map();
  successCount = 0;

  /** @throws RangeError when a number of its budget or circuit is out of range */
  constructor(spec: TopologyCall, to: OperationState, topology: Topology) {
    const { participation } = callerOf(topology, spec);
    const { propagate } = topology.deadlines;
    this.spec = spec;
    this.to = to;
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

  stopped(reason: StopReason): void {
    this.stopCounts.set(reason, (this.stopCounts.get(reason) ?? 0) + 1);
  }
}
