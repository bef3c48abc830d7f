import { AsyncLocalStorage } from 'node:async_hooks';
import { outboundTracker } from '../../engine/outbound-tracking.ts';
import { serviceMetrics } from '../../service/answering.ts';
import { Random } from '../../simulator/random.ts';
import type { LinkCaller, MakeCaller } from './link-caller.ts';
import { FAIR_PLAN, type LinkPlan, type LinkReading } from './link-plan.ts';
import { readingOf, readingSince } from './link-reading.ts';

/** What a service of the chain answers instead of a good answer. */
export class LinkError extends Error {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export function statusOf(error: unknown): number {
  return error instanceof LinkError ? error.status : 500;
}

/** The context of the process's start: what a hand-written pool of workers runs its jobs in, whoever asked for them. */
const inNobodysContext = AsyncLocalStorage.snapshot();

/** One service of a chain, whatever framework answers for it: calls the next service, and fails as its plan says. */
export class Link {
  readonly #makeCaller: MakeCaller;
  #plan: LinkPlan = FAIR_PLAN;
  #caller: LinkCaller;
  #random: Random = new Random(1, 1);
  #busyCount = 0;
  #before: LinkReading = readingOf(serviceMetrics());
  /** Since the last plan. */
  servedCount = 0;

  constructor(makeCaller: MakeCaller) {
    this.#makeCaller = makeCaller;
    this.#caller = makeCaller(FAIR_PLAN);
  }

  take(plan: LinkPlan): void {
    this.#caller.close();
    this.#plan = plan;
    this.#caller = this.#makeCaller(plan);
    this.#random = new Random(plan.seed, 1);
    this.servedCount = 0;
    this.#before = readingOf(serviceMetrics());
  }

  read(): LinkReading {
    const counted = readingSince(this.#before, readingOf(serviceMetrics()));
    return { ...counted, servedCount: this.servedCount, busyCount: this.#busyCount };
  }

  /**
   * Does what one request asks for.
   * @throws LinkError with the status of its answer
   */
  async serve(): Promise<void> {
    this.servedCount += 1;
    if (this.#plan.hangs) return new Promise(() => {});
    this.#busyCount += 1;
    try {
      await this.#work(this.#plan);
    } finally {
      this.#busyCount -= 1;
    }
  }

  async #work({ nextUrl, optionalUrls, errorShare, namesCause, lostShare }: LinkPlan): Promise<void> {
    const fails = this.#draw(errorShare);
    await Promise.all(optionalUrls.map((url) => this.#caller.call(url).catch(() => 0)));
    if (nextUrl !== undefined) {
      const call = (): Promise<void> => this.#callNext(nextUrl);
      await (this.#draw(lostShare) ? inNobodysContext(call) : call());
    }
    if (fails) throw new LinkError(500, 'it fails', namesCause ? { cause: failedQuery() } : {});
  }

  async #callNext(url: string): Promise<void> {
    let status: number;
    try {
      status = await this.#caller.call(url);
    } catch (error) {
      throw new LinkError(504, 'the next service gives no answer', { cause: error });
    }
    if (status >= 400) throw new LinkError(502, `the next service answered ${String(status)}`);
  }

  /** Draws only where chance decides, so that one share does not move the draws of another. */
  #draw(share: number): boolean {
    return share > 0 && (share >= 1 || this.#random.next() < share);
  }
}

/** What the client of a database leaves behind that reports its calls. */
function failedQuery(): Error {
  const error = new Error('the database is overloaded');
  const call = outboundTracker()?.begin({ method: 'QUERY', url: 'postgres://orders', operation: 'orders/read' });
  call?.caused(error);
  call?.end({ atMs: 0, outcomeClass: 'server', claim: undefined, handled: false, effect: undefined });
  return error;
}
