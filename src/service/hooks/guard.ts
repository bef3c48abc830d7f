import { channel } from 'node:diagnostics_channel';
import type { Counters } from '../counters.ts';

/** Keeps what a hook throws from the application that it is called from: counted each time, told of once. */
export class Guard {
  readonly #counters: Counters;
  readonly #tell: (line: string) => void;

  constructor(counters: Counters, tell: (line: string) => void) {
    this.#counters = counters;
    this.#tell = tell;
  }

  /** @returns what `act` returned; `undefined` when it threw */
  run<Result>(hook: string, act: () => Result): Result | undefined {
    try {
      return act();
    } catch (error) {
      this.failed(hook, error);
      return undefined;
    }
  }

  failed(hook: string, error: unknown): void {
    if (this.#counters.countHookFault(hook) > 1) return;
    const words = error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
    this.#tell(`mulligan: the hook ${hook} failed (${words}); the application goes on without it, this is told once`);
  }

  /** Listens on a channel of Node's, whose documentation says what the message is. @returns stops listening */
  listen(name: string, act: (message: never) => void): () => void {
    const listener = (message: unknown): void => {
      try {
        act(message as never);
      } catch (error) {
        this.failed(name, error);
      }
    };
    const source = channel(name);
    source.subscribe(listener);
    return () => source.unsubscribe(listener);
  }
}
