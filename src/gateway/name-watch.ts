import type { Clock, Timer } from '../transport/clock.ts';
import { refusedBecause } from './refused-address.ts';
import type { ResolveName } from './resolve-name.ts';

/** How long the last good addresses of a name are used while it cannot be answered, in milliseconds. */
export const maxStaleMs: number = 3_600_000;
/** Longest wait for one answer, in milliseconds. */
export const answerTimeoutMs: number = 5_000;
/** Share of the interval by which it is scattered, so that gateways started together do not ask together for ever. */
const jitter = 0.1;

export interface NameWatchOptions {
  readonly host: string;
  readonly refreshMs: number;
  readonly resolve: ResolveName;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** For people: the name cannot be answered, can be again, or leads to a refused address. Not repeated. */
  readonly say: (message: string) => void;
  /** A watch of the same name that this one goes on from. */
  readonly previous?: NameWatch | undefined;
}

/**
 * The addresses of a name, asked for in the background. A name that cannot be answered keeps its last good ones for an
 * hour: a dead name server must not take down what it named.
 */
export interface NameWatch {
  readonly host: string;
  /** Sorted; empty while there was no answer yet, or none for too long. */
  readonly addresses: readonly string[];
  /** When the last good answer came, on the clock's own scale. */
  readonly answeredAtMs: number;
  /** Why the last question got no usable address. */
  readonly problem: string | undefined;
  /** Asks now; resolves when the answer is in, or `answerTimeoutMs` passed. Never rejects. */
  ask(): Promise<void>;
  /** Asks from now on; `onChange` is called when there are other addresses. */
  start(onChange: () => void): void;
  stop(): void;
}

export function createNameWatch(options: NameWatchOptions): NameWatch {
  return new RefreshedName(options);
}

class RefreshedName implements NameWatch {
  readonly host: string;
  addresses: readonly string[];
  answeredAtMs: number;
  problem: string | undefined;
  readonly #options: Omit<NameWatchOptions, 'previous'>;
  #onChange: (() => void) | undefined;
  #timer: Timer | undefined;

  constructor({ previous, ...options }: NameWatchOptions) {
    // Without `previous`: a watch that held it would hold those of every reload before.
    this.#options = options;
    this.host = options.host;
    this.addresses = previous?.addresses ?? [];
    this.answeredAtMs = previous?.answeredAtMs ?? -Infinity;
    this.problem = previous?.problem;
  }

  ask(): Promise<void> {
    const { resolve, clock } = this.#options;
    return new Promise((done) => {
      let open = true;
      const settle = (take: () => void): void => {
        // What comes after the limit belongs to no question any more.
        if (!open) return;
        open = false;
        timer.cancel();
        take();
        done();
      };
      const timer = clock.setTimer(answerTimeoutMs, () =>
        settle(() => this.#failed(`no answer within ${answerTimeoutMs} ms`)),
      );
      timer.unref();
      resolve(this.host).then(
        (found) => settle(() => this.#answered(found)),
        (error: unknown) => settle(() => this.#failed(reasonOf(error))),
      );
    });
  }

  start(onChange: () => void): void {
    this.#onChange = onChange;
    this.#schedule();
  }

  stop(): void {
    this.#onChange = undefined;
    this.#timer?.cancel();
  }

  #schedule(): void {
    const { clock, refreshMs, random } = this.#options;
    const delayMs = refreshMs * (1 - jitter + 2 * jitter * random());
    this.#timer = clock.setTimer(delayMs, () => {
      void this.ask().then(() => {
        if (this.#onChange !== undefined) this.#schedule();
      });
    });
    this.#timer.unref();
  }

  #answered(found: readonly string[]): void {
    const refused = found.flatMap((address) => {
      const why = refusedBecause(address);
      return why === undefined ? [] : [`${address} is refused: ${why}`];
    });
    const usable = [...new Set(found.filter((address) => refusedBecause(address) === undefined))].sort();
    if (usable.length === 0) return this.#failed(refused.join(', ') || 'the answer holds no address');
    this.answeredAtMs = this.#options.clock.nowMs();
    this.#report(refused.length === 0 ? undefined : refused.join(', '));
    this.#use(usable);
  }

  #failed(reason: string): void {
    this.#report(reason);
    if (this.#options.clock.nowMs() - this.answeredAtMs > maxStaleMs) this.#use([]);
  }

  #report(problem: string | undefined): void {
    if (problem === this.problem) return;
    this.problem = problem;
    const { say } = this.#options;
    if (problem === undefined) say(`${this.host}: its addresses are known again`);
    else say(`${this.host}: ${problem}${this.addresses.length > 0 ? '; its last good addresses stay in use' : ''}`);
  }

  #use(addresses: readonly string[]): void {
    const same =
      addresses.length === this.addresses.length && addresses.every((one, index) => one === this.addresses[index]);
    if (same) return;
    this.addresses = addresses;
    this.#onChange?.();
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? (error instanceof Error ? error.message : String(error));
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name does not exist (ENOTFOUND)',
  ENODATA: 'the name has no address (ENODATA)',
  EAI_AGAIN: 'the name server did not answer (EAI_AGAIN)',
  ESERVFAIL: 'the name server failed (ESERVFAIL)',
};
