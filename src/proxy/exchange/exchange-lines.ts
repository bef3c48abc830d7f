import type { StopReason } from '../../core/decision.ts';
import { describeFailure } from '../../core/failure-chain.ts';
import type { Failure } from '../../core/failure.ts';
import { ask } from '../../engine/ask.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import type { MaybePromise } from '../../engine/run-host.ts';
import { callHook } from './hook-call.ts';
import type { Exchange, HookName } from '../phases.ts';
import { pathWithoutQuery } from '../proxy-request.ts';
import type { ProxyState } from '../proxy-state.ts';

/** Milliseconds that a hook may take which only shapes a line. */
const WORD_MS = 1_000;

/**
 * The lines for people that one request leaves: one a retry, one at the end if it failed. Hooks may keep a line back or say
 * what it calls the request; nothing waits for them, and a hook that fails costs no line.
 */
export class ExchangeLines<Context> {
  readonly #proxy: ProxyState<Context>;
  readonly #exchange: Exchange<Context>;

  constructor(proxy: ProxyState<Context>, exchange: Exchange<Context>) {
    this.#proxy = proxy;
    this.#exchange = exchange;
  }

  /** @param number Of the attempt that ended: 1 for the first. */
  retried(attempt: AttemptRecord, number: number, delayMs: number): void {
    if (this.#proxy.diagnostics === undefined) return;
    const what = attempt.detail ?? `answered ${attempt.status}`;
    const facts = `retry=true wait=${Math.round(delayMs)}ms`;
    const { hooks } = this.#proxy;
    this.#unless(
      'suppressRetryLog',
      () => hooks.suppressRetryLog?.(this.#exchange),
      () => this.#write('warn', `attempt ${number} at ${attempt.endpoint} failed: ${what}; ${facts}`),
    );
  }

  failed(failure: Failure, status: number, reason: StopReason | undefined): void {
    if (this.#proxy.diagnostics === undefined) return;
    const { attemptNumber } = this.#exchange;
    const facts = `status=${status} attempts=${attemptNumber} retry=false reason=${reason ?? 'none'}`;
    const { hooks } = this.#proxy;
    this.#unless(
      'suppressErrorLog',
      () => hooks.suppressErrorLog?.(this.#exchange, failure),
      () => this.#write('error', `${describeFailure(failure)}; ${facts}`),
    );
  }

  #unless(hook: HookName, isSuppressed: () => MaybePromise<boolean | undefined>, write: () => void): void {
    this.#word(hook, isSuppressed, (answer) => {
      if (answer !== true) write();
    });
  }

  #write(level: 'warn' | 'error', text: string): void {
    const { diagnostics, hooks } = this.#proxy;
    const { request } = this.#exchange;
    this.#word(
      'requestSummary',
      () => hooks.requestSummary?.(this.#exchange),
      (own) => {
        const summary = own ?? `${request.method} ${pathWithoutQuery(request.path)}, host ${request.host}`;
        diagnostics?.(level, `${text}, ${summary}`);
      },
    );
  }

  #word<T>(hook: HookName, call: () => MaybePromise<T | undefined>, then: (word: T | undefined) => void): void {
    const limit = { clock: this.#proxy.clock, limitMs: () => WORD_MS };
    ask(
      () => callHook(hook, call, limit),
      then,
      (error) => {
        this.#proxy.hookFault(error);
        then(undefined);
      },
    );
  }
}
