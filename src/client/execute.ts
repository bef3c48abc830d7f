import type { RetryPolicyOptions } from '../core/retry-policy.ts';
import type { Failure } from '../core/failure.ts';
import { failureFromError, internalFailure } from '../transport/failure-from-error.ts';
import type { Call, CallOutcome } from './call/call.ts';
import { createCallTransport, UNKNOWN_SITE } from './call/call-transport.ts';
import { createPortableClock } from './call/portable-clock.ts';
import { runCall } from './call/run-call.ts';
import type { LayerHost, LayerOptions } from './layer-options.ts';
import { createLayer } from './layer-options.ts';
import { PACE_NAMES, requireNames } from './options.ts';

/**
 * What an error thrown by a function means.
 * - `unsent`: nothing was done, for certain; it may be done again whatever it is.
 * - `retryable`: it failed, and nobody knows how far it came.
 * - `final`: to do it again would end the same way, and it says nothing about who was called.
 */
export type ErrorMeaning = 'unsent' | 'retryable' | 'final';

export interface PolicyOptions extends Pick<
  LayerOptions,
  'budget' | 'timeout' | 'hedge' | 'circuitBreaker' | 'onRetry'
> {
  /** Who is called: names budget and circuits in reports. Default `policy`. */
  readonly name?: string | undefined;
  /** A number is `{ maxRetries }`; `false` is exactly one call. `on` is by default every trigger: `idempotent` decides. */
  readonly retry?: Omit<RetryPolicyOptions, 'codes' | 'ownership'> | number | false | undefined;
  /** Default: every error is `retryable`. `undefined` is the default too. */
  readonly classifyError?: ((error: unknown) => ErrorMeaning | undefined) | undefined;
}

export interface ExecuteOptions {
  /** Doing it twice is the same as doing it once. Default false: only what certainly was not done is done again. */
  readonly idempotent?: boolean | undefined;
  /** Ends the wait, the attempt and every further attempt. */
  readonly signal?: AbortSignal | undefined;
  /** What circuits are told apart by, one of a bounded number: the name of a query, of a queue. */
  readonly operation?: string | undefined;
}

/** What a function is called with. */
export interface Execution {
  /** 1 for the first. */
  readonly attempt: number;
  /** Aborts when nobody waits for this attempt any more: its time is over, or the caller is gone. */
  readonly signal: AbortSignal;
}

/** The retry core for anything that is not HTTP: a database, a queue, a file on a network. */
export interface Policy {
  /**
   * Runs a function as often as needed, and gives what it gave.
   * @throws what it threw last, as it was; the signal's reason; RequestFailedError for a deadline or an open circuit
   */
  execute<T>(fn: (execution: Execution) => T | Promise<T>, options?: ExecuteOptions): Promise<T>;
}

/** @throws RangeError or TypeError for an option that cannot be, naming it */
export function createPolicy(options: PolicyOptions = {}): Policy {
  const clock = createPortableClock();
  return createPolicyAt(options, { clock, random: Math.random, transport: createCallTransport(clock) });
}

/** The same in a time of the caller's choice. */
export function createPolicyAt(options: PolicyOptions, host: LayerHost): Policy {
  requireNames('createPolicy', options, NAMES);
  const { name = 'policy', classifyError, retry, ...rest } = options;
  const own = typeof retry === 'object' ? retry : {};
  requireNames('createPolicy: retry', own, RETRY_NAMES);
  const retryOptions = typeof retry === 'number' ? { maxRetries: retry } : own;
  const layer = createLayer(
    'createPolicy',
    { ...rest, retry: retry === false ? false : { on: EVERY_TRIGGER, ...retryOptions } },
    host,
  );
  const url = new URL(`policy:${encodeURIComponent(name)}`);
  return {
    async execute(fn, { idempotent = false, signal, operation } = {}) {
      if (typeof fn !== 'function') throw new TypeError('execute: give a function');
      return runCall({
        call: new FunctionCall(fn, classifyError),
        layer,
        // Neither is HTTP's: whether it may be done twice is the caller's word alone.
        method: 'EXECUTE',
        url,
        name,
        keyed: false,
        repeatable: idempotent,
        operation,
        signal,
      });
    },
  };
}

class FunctionCall<T> implements Call<T> {
  readonly #fn: (execution: Execution) => T | Promise<T>;
  readonly #classifyError: PolicyOptions['classifyError'];

  constructor(fn: (execution: Execution) => T | Promise<T>, classifyError: PolicyOptions['classifyError']) {
    this.#fn = fn;
    this.#classifyError = classifyError;
  }

  async attempt({
    number,
    signal,
  }: {
    readonly number: number;
    readonly signal: AbortSignal;
  }): Promise<CallOutcome<T>> {
    try {
      return { type: 'answered', answer: DONE, value: await this.#fn({ attempt: number, signal }) };
    } catch (error) {
      return { type: 'failed', failure: this.#failureOf(error), error };
    }
  }

  #failureOf(error: unknown): Failure {
    const meaning = this.#classifyError?.(error) ?? 'retryable';
    switch (meaning) {
      case 'unsent':
        return { ...upstreamFailure(error), phase: 'connect', bytesSent: 0 };
      case 'retryable':
        return upstreamFailure(error);
      case 'final':
        return internalFailure('http_request_error', 'the function failed for good', UNKNOWN_SITE, error);
      default:
        throw new TypeError(`classifyError gave ${JSON.stringify(meaning)}; give unsent, retryable or final`);
    }
  }
}

const DONE = { status: 200 } as const;

/** Whatever code it carries, it is the callee that failed, and any retry is the policy's to allow. */
function upstreamFailure(error: unknown): Failure {
  return { ...failureFromError(error, UNKNOWN_SITE), kind: 'connection_terminated', source: 'upstream' };
}

const EVERY_TRIGGER = ['unsent', 'rejected', 'stale', 'reset', 'timeout'] as const;

const NAMES: readonly string[] = [
  'name',
  'retry',
  'budget',
  'timeout',
  'hedge',
  'circuitBreaker',
  'onRetry',
  'classifyError',
];

const RETRY_NAMES: readonly string[] = ['maxRetries', 'on', ...PACE_NAMES];
