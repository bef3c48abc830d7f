import type { OwnershipMode } from '../../core/retry-policy.ts';

/** What one service of a chain is to do until it is told otherwise. */
export interface LinkPlan {
  /** Where the next service listens: `http://127.0.0.1:4000`; `undefined` for the last one. */
  readonly nextUrl: string | undefined;
  /** Services that it calls, too, and can do without. Default none. */
  readonly optionalUrls: readonly string[];
  /** Retries of each call, 0–1000. */
  readonly retryCount: number;
  /** What all retries of a service may add to its calls, 0–100; `undefined` for no budget. */
  readonly budgetPercent: number | undefined;
  /** What its calls make of claims. It says no more than the service around them does. */
  readonly ownership: OwnershipMode;
  /** Whether a request that is itself a retry is retried again. */
  readonly retryOfRetry: boolean;
  /** Milliseconds that one attempt waits for its answer; 0 for as long as it takes. */
  readonly attemptMs: number;
  /** The share of its requests that fail after everything below went well, 0–1. */
  readonly errorShare: number;
  /** Whether these errors name what caused them: a call to a database that reports its calls. */
  readonly namesCause: boolean;
  /** What the draw of those begins with: the same seed and the same order of requests fail alike. */
  readonly seed: number;
  /** It never answers. */
  readonly hangs: boolean;
  /** The share of its requests whose calls are made outside of their context, 0–1. */
  readonly lostShare: number;
}

/** A service of the chain in fair weather: one retry, no budget, claims obeyed. */
export const FAIR_PLAN: LinkPlan = {
  nextUrl: undefined,
  optionalUrls: [],
  retryCount: 1,
  budgetPercent: undefined,
  ownership: 'enforce',
  retryOfRetry: true,
  attemptMs: 0,
  errorShare: 0,
  namesCause: false,
  seed: 1,
  hangs: false,
  lostShare: 0,
};

/** What a service counted since its last plan. */
export interface LinkReading {
  /** Requests that arrived. */
  readonly servedCount: number;
  /** Requests that it is still working for; those that it will never answer are not counted. */
  readonly busyCount: number;
  /** Retries that it made, of the metrics of error ownership, as are the following; 0 where it takes no part. */
  readonly retryCount: number;
  /** Retries that a claim took away. */
  readonly obeyedCount: number;
  /** Retries made although the callee said that it had been retried below. */
  readonly disobeyedCount: number;
  readonly untrackedCallCount: number;
  /** Errors claimed as its own by an operation that usually makes calls, and made none. */
  readonly doubtfulCount: number;
  readonly relayedCount: number;
  readonly ownedCount: number;
  readonly hookFaultCount: number;
}

/** What the process that runs a chain says to a service of it, and what that answers. */
export type LinkOrder = { readonly type: 'plan'; readonly plan: LinkPlan } | { readonly type: 'read' };
export type LinkReply =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'planned' }
  | { readonly type: 'reading'; readonly reading: LinkReading };
