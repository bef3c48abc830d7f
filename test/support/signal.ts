/** Lets a test wait for a state instead of for a time: whoever changes the state calls `changed`. */
export interface Signal {
  changed(): void;
  /**
   * Resolves with the first truthy value of `check`, which runs now and after every change.
   * @param options.timeoutMs a generous bound for a state that never comes; default 15 000
   * @throws Error after the bound, saying `what` was awaited and what `describe` says there is instead
   */
  until<T>(check: () => T | false | undefined, options: WaitOptions): Promise<T>;
}

export interface WaitOptions {
  readonly what: string;
  readonly describe?: () => string;
  readonly timeoutMs?: number | undefined;
}

/** Long enough for a loaded machine of two cores; it only ever passes when the awaited thing does not happen. */
export const defaultWaitMs = 15_000;

export function createSignal(): Signal {
  const waiters = new Set<() => void>();
  return {
    changed() {
      for (const waiter of [...waiters]) waiter();
    },
    until<T>(check: () => T | false | undefined, options: WaitOptions): Promise<T> {
      const timeoutMs = options.timeoutMs ?? defaultWaitMs;
      // Made here, so that the stack names the test that waited and not the timer.
      const timeout = new Error();
      return new Promise<T>((resolve, reject) => {
        const settle = (): boolean => {
          let value: T | false | undefined;
          try {
            value = check();
          } catch (error) {
            finish();
            reject(error);
            return true;
          }
          if (value === false || value === undefined) return false;
          finish();
          resolve(value);
          return true;
        };
        const finish = (): void => {
          waiters.delete(settle);
          clearTimeout(timer);
        };
        const timer = setTimeout(() => {
          finish();
          timeout.message = `waited ${timeoutMs} ms in vain for ${options.what}; instead:\n${options.describe?.() ?? '(nothing described)'}`;
          reject(timeout);
        }, timeoutMs);
        if (!settle()) waiters.add(settle);
      });
    },
  };
}
