import type { MaybePromise } from './run-host.ts';

/**
 * Asks user code something that may be answered at once, later, or with an exception. Only a later answer costs a turn
 * of the event loop; every exception ends in `failed`, never in the process.
 */
export function ask<T>(call: () => MaybePromise<T>, then: (answer: T) => void, failed: (error: unknown) => void): void {
  let answer: MaybePromise<T>;
  try {
    answer = call();
  } catch (error) {
    failed(error);
    return;
  }
  if (isPromise(answer)) answer.then(then, failed);
  else then(answer);
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
