import { explain } from '../../core/explain.ts';
import { FailureError } from '../../core/failure-error.ts';
import { isPromise } from '../../engine/ask.ts';
import type { MaybePromise } from '../../engine/run-host.ts';
import type { Clock } from '../../transport/clock.ts';
import { HookError } from './hook-error.ts';
import type { HookName } from '../phases.ts';

/** How long a hook may take. */
export interface HookLimit {
  readonly clock: Clock;
  /** Milliseconds from now, `Infinity` for no limit; asked only where the answer comes later. */
  limitMs(): number;
}

/**
 * Calls user code. A hook that takes longer than its limit failed with `deadline_exceeded`; what it says after that is
 * for nobody. Without a limit the caller has one of its own.
 * @throws HookError for whatever the hook throws; an answer that comes later is rejected with it
 */
export function callHook<T>(hook: HookName, call: () => MaybePromise<T>, limit?: HookLimit): MaybePromise<T> {
  let answer: MaybePromise<T>;
  try {
    answer = call();
  } catch (error) {
    throw new HookError(hook, error);
  }
  return isPromise(answer) ? laterAnswer(hook, answer, limit) : answer;
}

function laterAnswer<T>(hook: HookName, answer: Promise<T>, limit: HookLimit | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const limitMs = limit?.limitMs() ?? Infinity;
    const late = (): void => {
      const failure = explain('deadline_exceeded', `no answer within ${String(Math.ceil(limitMs))} ms`);
      reject(new HookError(hook, new FailureError(failure)));
    };
    const timer = limitMs === Infinity ? undefined : limit?.clock.setTimer(limitMs, late);
    answer.then(
      (value) => {
        timer?.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer?.cancel();
        reject(new HookError(hook, error));
      },
    );
  });
}
