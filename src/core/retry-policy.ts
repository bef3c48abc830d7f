import { MAX_DELAY_MS } from './deadline.ts';
import { GRPC_STATUSES, grpcStatusNumber } from './grpc-statuses.ts';
import type { GrpcStatus } from './grpc-statuses.ts';
import { DEFAULT_RETRY_POLICY } from './presets/default.ts';
import { requireWholeNumber } from './require-whole-number.ts';

/** Failure triggers a policy can name. `answered` outcomes are named by `codes` instead. */
export type RetryTrigger = 'unsent' | 'rejected' | 'stale' | 'reset' | 'timeout';

export type BackoffCurve = 'exponential' | 'linear' | 'fixed';
/** `decorrelated` sets its own pace: the curve is not used with it. */
export type Jitter = 'full' | 'equal' | 'decorrelated' | 'none';
export type OwnershipMode = 'off' | 'observe' | 'enforce';

export interface BackoffPolicy {
  readonly curve: BackoffCurve;
  /** First step in milliseconds, ≥ 0. Default 25. */
  readonly baseMs: number;
  /** Ceiling in milliseconds, ≥ baseMs. Default 250. */
  readonly maxMs: number;
  readonly jitter: Jitter;
}

export interface RetryPolicy {
  /** Sends beyond the first, 0–1000. 0 means exactly one send. The free stale re-send is not counted. */
  readonly maxRetries: number;
  /** Response statuses that may be retried. Default none. */
  readonly codes: ReadonlySet<number>;
  /** Numbers of gRPC statuses that may be retried where a response head carries one. `undefined`: none is looked for. */
  readonly grpcStatuses?: ReadonlySet<number> | undefined;
  /** Failures that may be retried. Default unsent, rejected, stale. */
  readonly on: ReadonlySet<RetryTrigger>;
  readonly backoff: BackoffPolicy;
  /** A Retry-After above this many milliseconds ends the request with the response. Default 10 000. */
  readonly retryAfterMaxMs: number;
  /** Whether a request that is itself a retry of a caller may be retried here. Default false. */
  readonly retryOfRetry: boolean;
  /** `enforce` obeys claims; `observe` only counts them; `off` does not read them. Default `enforce`. */
  readonly ownership: OwnershipMode;
}

/** A policy as a person writes it. Everything has a default; see `DEFAULT_RETRY_POLICY`. */
export interface RetryPolicyOptions {
  readonly maxRetries?: number | undefined;
  readonly codes?: Iterable<number> | undefined;
  /** Statuses of gRPC beside `codes`. Default none. */
  readonly grpcStatuses?: Iterable<GrpcStatus> | undefined;
  readonly on?: Iterable<RetryTrigger> | undefined;
  readonly curve?: BackoffCurve | undefined;
  readonly backoffMs?: number | undefined;
  /** Default ten times `backoffMs`, at least 250. */
  readonly maxBackoffMs?: number | undefined;
  readonly jitter?: Jitter | undefined;
  readonly retryAfterMaxMs?: number | undefined;
  readonly retryOfRetry?: boolean | undefined;
  readonly ownership?: OwnershipMode | undefined;
}

const TRIGGERS: readonly RetryTrigger[] = ['unsent', 'rejected', 'stale', 'reset', 'timeout'];
const CURVES: readonly BackoffCurve[] = ['exponential', 'linear', 'fixed'];
const JITTERS: readonly Jitter[] = ['full', 'equal', 'decorrelated', 'none'];
export const OWNERSHIP_MODES: readonly OwnershipMode[] = ['off', 'observe', 'enforce'];

/**
 * Fills in the defaults and checks every field.
 * @throws RangeError for a value outside its range, naming the field, the value and what is allowed
 */
export function createRetryPolicy(options: RetryPolicyOptions = {}): RetryPolicy {
  const defaults = DEFAULT_RETRY_POLICY;
  const baseMs = options.backoffMs ?? defaults.backoff.baseMs;
  const policy: RetryPolicy = {
    maxRetries: options.maxRetries ?? defaults.maxRetries,
    codes: new Set(options.codes ?? defaults.codes),
    on: new Set(options.on ?? defaults.on),
    backoff: {
      curve: options.curve ?? defaults.backoff.curve,
      baseMs,
      maxMs: options.maxBackoffMs ?? Math.min(MAX_DELAY_MS, Math.max(10 * baseMs, defaults.backoff.maxMs)),
      jitter: options.jitter ?? defaults.backoff.jitter,
    },
    retryAfterMaxMs: options.retryAfterMaxMs ?? defaults.retryAfterMaxMs,
    retryOfRetry: options.retryOfRetry ?? defaults.retryOfRetry,
    ownership: options.ownership ?? defaults.ownership,
  };
  const grpcStatuses = [...(options.grpcStatuses ?? [])];
  for (const status of grpcStatuses) requireOneOf('grpcStatuses', status, GRPC_STATUSES);
  requireWholeNumber('retry policy', 'maxRetries', policy.maxRetries, 0, 1000);
  for (const code of policy.codes) requireWholeNumber('retry policy', 'codes', code, 400, 599);
  for (const trigger of policy.on) requireOneOf('on', trigger, TRIGGERS);
  requireOneOf('curve', policy.backoff.curve, CURVES);
  requireOneOf('jitter', policy.backoff.jitter, JITTERS);
  requireOneOf('ownership', policy.ownership, OWNERSHIP_MODES);
  requireNumber('backoffMs', baseMs, 0, MAX_DELAY_MS);
  requireNumber('maxBackoffMs', policy.backoff.maxMs, baseMs, MAX_DELAY_MS);
  requireNumber('retryAfterMaxMs', policy.retryAfterMaxMs, 0, MAX_DELAY_MS);
  if (grpcStatuses.length === 0) return policy;
  return { ...policy, grpcStatuses: new Set(grpcStatuses.map(grpcStatusNumber)) };
}

function requireNumber(field: string, value: number, lowest: number, highest: number): void {
  if (value >= lowest && value <= highest) return;
  throw new RangeError(
    `retry policy: ${field} is ${String(value)}; give milliseconds from ${String(lowest)} to ${String(highest)}`,
  );
}

function requireOneOf(field: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  throw new RangeError(`retry policy: ${field} is '${value}'; give one of ${allowed.join(', ')}`);
}
