export { backoffDelayMs } from './backoff.ts';
export { createCircuitBreaker } from './circuit-breaker.ts';
export { classifyOutcome, triggerOf } from './classify.ts';
export { attemptTimeoutMs, clampDelayMs, deadlineAt, MAX_DELAY_MS, remainingMs } from './deadline.ts';
export { decide } from './decide.ts';
export { because, explain, isFailure, moreContext } from './explain.ts';
export { failureCause } from './failure-cause.ts';
export { describeFailure } from './failure-chain.ts';
export { FailureError } from './failure-error.ts';
export { hashText } from './hash.ts';
export { createHedgePolicy } from './hedging.ts';
export { parseHttpDate } from './http-date.ts';
export { createOutlier, createOutlierPolicy, mayEject } from './outlier-detection.ts';
export type { ClaimSuspicion } from './ownership/claim-suspicion.ts';
export { attribute } from './ownership/attribute.ts';
export { withClaim } from './ownership/claimed-facts.ts';
export { createDependencyMemory } from './ownership/dependency-memory.ts';
export { outcomeClassOfGrpcStatus } from './ownership/grpc-status.ts';
export { outboundEnding } from './ownership/outbound-ending.ts';
export { pathAllowance } from './ownership/path-allowance.ts';
export { stormRadius } from './ownership/storm-radius.ts';
export { createPermits } from './permits.ts';
export { hasEndpoint, hasOtherEndpoint, pickEndpoint } from './pick-endpoint.ts';
export { DEFAULT_RETRY_BUDGET, DEFAULT_RETRY_POLICY } from './presets/default.ts';
export { NANTIAN_PRESET, NANTIAN_TRANSPORT_PRESET } from './presets/nantian.ts';
export { PINGORA_PRESET } from './presets/pingora.ts';
export { createRequestSession } from './request-session.ts';
export { parseRetryAfter, parseRetryPushback } from './retry-after.ts';
export { createRetryBudget } from './retry-budget.ts';
export { createRetryPolicy } from './retry-policy.ts';
export { classifyFailure, classifyResponse, isIdempotent } from './safety.ts';
export { circuitVerdict, endpointVerdict } from './verdict.ts';

export type { BreakerState, CircuitBreaker, CircuitBreakerOptions, CircuitPass } from './circuit-breaker.ts';
export type { Claim } from './claim.ts';
export type { OutcomeClass } from './classify.ts';
export type { DecisionInput } from './decide.ts';
export type { Decision, RetryDecision, StopDecision, StopReason } from './decision.ts';
export type { FailureEvidence } from './explain.ts';
export type {
  Failure,
  FailureCause,
  FailureKind,
  FailurePhase,
  FailureSource,
  OwnErrorKind,
  ProxyErrorKind,
} from './failure.ts';
export type {
  AttemptEnding,
  BreakerChanged,
  ConfigReloaded,
  DrainBegan,
  EndpointDrainChanged,
  EndpointEjected,
  EndpointEvent,
  EndpointHealthChanged,
  EndpointReturned,
  EventChannel,
  EndpointEventFields,
  EventFields,
  MulliganEvent,
  RequestEventFields,
  RequestEnded,
  RequestEvent,
  RetryScheduled,
  RetrySuppressed,
} from './observer.ts';
export type { Outcome, ResponseFacts, Ruling } from './outcome.ts';
export type { FailureLimits, FailureThresholdOptions } from './failure-threshold.ts';
export type { HedgePolicy } from './hedging.ts';
export type { EndpointView, LoadBalancing } from './load-balancing.ts';
export type { EjectionGroup, Outlier, OutlierDetectionOptions, OutlierPolicy } from './outlier-detection.ts';
export type { Attribution, AttributionBasis, ServiceAnswer } from './ownership/attribute.ts';
export type { CallEdge, CallGraph, CallNode, Participation } from './ownership/call-graph.ts';
export type { CausalPower, CoFailureTally } from './ownership/causal-power.ts';
export type { DependencyReading } from './ownership/dependency-edge.ts';
export type { DeclaredEdge, DependencyMemory, DependencyMemoryOptions } from './ownership/dependency-memory.ts';
export type { DependencySnapshot, DependencySnapshotEdge } from './ownership/dependency-snapshot.ts';
export type { ClaimReason, ErrorClaim, RetryAdvice } from './ownership/error-claim.ts';
export type { EdgeClass, Outbound, OutboundEnding } from './ownership/outbound.ts';
export type { PathAllowance } from './ownership/path-allowance.ts';
export type { StormRadius } from './ownership/storm-radius.ts';
export type { Permits } from './permits.ts';
export type { EndpointChoice } from './pick-endpoint.ts';
export type { Preset } from './presets/preset.ts';
export type { Circumstances, RequestFacts } from './request.ts';
export type { CreateRequestSession, RequestSession } from './request-session.ts';
export type {
  MinRetryRate,
  NoRetryBudgetOptions,
  RatioBudgetOptions,
  RetryBudget,
  RetryBudgetOptions,
  ThrottleBudgetOptions,
  TokenBucketBudgetOptions,
} from './retry-budget.ts';
export type { GrpcStatus } from './grpc-statuses.ts';
export type {
  BackoffCurve,
  BackoffPolicy,
  Jitter,
  OwnershipMode,
  RetryPolicy,
  RetryPolicyOptions,
  RetryTrigger,
} from './retry-policy.ts';
export type { SafetyClass } from './safety.ts';
export type { Verdict } from './verdict.ts';
