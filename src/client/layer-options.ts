import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { HedgePolicy } from '../core/hedging.ts';
import { createHedgePolicy } from '../core/hedging.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import type { Clock } from '../transport/clock.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import { createReplayMemory } from '../transport/body/replay-memory.ts';
import type { Transport } from '../transport/transport.ts';
import type { Origins } from './call/origins.ts';
import { createOrigins } from './call/origins.ts';
import {
  CLIENT_DEFAULTS,
  requireBytes,
  requireNames,
  resolveBudget,
  resolveHedge,
  resolveRetry,
  resolveTimeout,
} from './options.ts';
import type { CallOptions, ResolvedTimeout, RetryRules } from './options.ts';

/** What a layer over another client is told: a wrapped `fetch`, an undici interceptor, an axios adapter, a policy. */
export interface LayerOptions extends Pick<CallOptions, 'retry' | 'budget' | 'idempotencyKey'> {
  /** Milliseconds; 0 switches one off. Connecting and silence are the client's below. A number is `{ requestMs }`. */
  readonly timeout?:
    | {
        /** The whole request up to the response head, waits and retries included. Default 300 000. */
        readonly requestMs?: number | undefined;
        /** One attempt, from its start to the response head. Default: off. */
        readonly attemptMs?: number | undefined;
      }
    | number
    | undefined;
  /** A copy of a slow request, idempotent or keyed ones only. Default: none. */
  readonly hedge?:
    | {
        /** Milliseconds without a response head, 1–2³¹−1. */
        readonly delayMs: number;
        /** Copies of one request, 1–10. Default 1. */
        readonly max?: number | undefined;
      }
    | false
    | undefined;
  /** A circuit for each origin that opens when it keeps failing. Default: none. */
  readonly circuitBreaker?: CircuitBreakerOptions | undefined;
  /** Most bytes kept of a body that can be read only once, 0–2⁵³−1. Default 65 536. */
  readonly replayBufferBytes?: number | undefined;
  /** Most bytes that all bodies of this layer keep together, 0–2⁵³−1. Default 67 108 864. */
  readonly replayMemoryBytes?: number | undefined;
  /** Told of each attempt that another one follows, and after how many milliseconds. */
  readonly onRetry?: ((attempt: Readonly<AttemptRecord>, delayMs: number) => void) | undefined;
}

/** Where a layer stands in time; tests give their own. */
export interface LayerHost {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly transport: Transport;
}

/** A layer's options with every default, and the state that its calls share. */
export interface Layer {
  readonly host: LayerHost;
  readonly rules: RetryRules;
  readonly timeout: ResolvedTimeout;
  readonly hedge: HedgePolicy | undefined;
  readonly idempotencyKey: CallOptions['idempotencyKey'];
  readonly replayBufferBytes: number;
  readonly memory: ReplayMemory;
  readonly origins: Origins;
  readonly onRetry: LayerOptions['onRetry'];
}

/**
 * @param owner names the layer in errors
 * @throws RangeError or TypeError for a value that cannot be, naming the field
 */
export function createLayer(owner: string, options: LayerOptions, host: LayerHost): Layer {
  requireNames(owner, options, NAMES);
  const { hedge, timeout, circuitBreaker, idempotencyKey } = options;
  if (typeof timeout === 'object') requireNames(`${owner}: timeout`, timeout, ['requestMs', 'attemptMs']);
  if (typeof hedge === 'object') requireNames(`${owner}: hedge`, hedge, ['delayMs', 'max']);
  if (typeof idempotencyKey === 'string')
    throw new TypeError(`${owner}: idempotencyKey is one string for many requests; give true or a function`);
  resolveHedge(hedge);
  const budgetOf = resolveBudget(options.budget);
  const replayMemoryBytes = options.replayMemoryBytes ?? CLIENT_DEFAULTS.replayMemoryBytes;
  return {
    host,
    rules: resolveRetry(options.retry),
    timeout: resolveTimeout(timeout),
    // There is one way to each origin: a copy goes there too.
    hedge:
      typeof hedge === 'object'
        ? { ...createHedgePolicy({ delayMs: hedge.delayMs, max: hedge.max ?? 1 }), sameEndpoint: true }
        : undefined,
    idempotencyKey,
    replayBufferBytes: requireBytes(
      'replayBufferBytes',
      options.replayBufferBytes ?? CLIENT_DEFAULTS.replayBufferBytes,
    ),
    memory: createReplayMemory(requireBytes('replayMemoryBytes', replayMemoryBytes)),
    origins: createOrigins({ transport: host.transport, budgetOf, circuitBreaker }),
    onRetry: options.onRetry,
  };
}

const NAMES: readonly string[] = [
  'retry',
  'budget',
  'idempotencyKey',
  'timeout',
  'hedge',
  'circuitBreaker',
  'replayBufferBytes',
  'replayMemoryBytes',
  'onRetry',
];
