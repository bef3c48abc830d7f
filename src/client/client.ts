import { errors } from 'undici';
import { deadlineAt } from '../core/deadline.ts';
import type { Clock } from '../transport/clock.ts';
import { LiveList } from '../transport/live-list.ts';
import { createReplayMemory } from '../transport/body/replay-memory.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import type { CallRules } from './call-rules.ts';
import { callRules, createIdempotencyKey, readEndpoints, saysSomething } from './call-rules.ts';
import { ClientExchange } from './client-exchange.ts';
import type { ClientOptions } from './client-options.ts';
import { readClientOptions } from './client-options.ts';
import type { ClientState, RequestEnd, RunningRequest } from './client-state.ts';
import { createClientTransport } from './client-transport.ts';
import type { ClientTransport } from './client-transport.ts';
import type { RequestHandler } from './dispatch-handler.ts';
import type { DispatchOptions } from './dispatch-request.ts';
import { readDispatchRequest } from './dispatch-request.ts';
import { resolveBudget, resolveHedge, resolveRetry, resolveTimeout } from './options.ts';
import type { CallOptions } from './options.ts';
import { OriginBook } from './origin-book.ts';
import type { CookieJar } from './request-cookies.ts';

/** A call of several requests (the hops of a redirect): their word, and the deadline and key that they have in common. */
export interface Call {
  readonly rules: CallRules;
  readonly deadlineAtMs: number;
  /** Gets each request's report when it begins. */
  began(report: ClientExchange['report']): void;
}

/** The engine's other host: what all requests of one dispatcher share. */
export class Client implements ClientState {
  readonly clock: Clock;
  readonly random: () => number;
  readonly replayBufferBytes: number;
  readonly replayMemory: ReplayMemory;
  readonly cookies: CookieJar | undefined;
  readonly onRequestEnd: ((end: RequestEnd) => void) | undefined;
  readonly transport: ClientTransport;

  readonly #book: OriginBook;
  readonly #base: CallRules;
  readonly #running = new LiveList<RunningRequest>();
  readonly #maxConnections: number;
  readonly #onDrain: (origin: URL) => void;
  readonly #whenIdle: (() => void)[] = [];

  /** @param onDrain An origin that was busy takes more. @throws RangeError or TypeError for an option, naming it */
  constructor(options: ClientOptions, clock: Clock, random: () => number, onDrain: (origin: URL) => void) {
    const { connections, cookies, onRequestEnd, replayBufferBytes, replayMemoryBytes, ...transport } =
      readClientOptions(options);
    this.clock = clock;
    this.random = random;
    this.cookies = cookies;
    this.onRequestEnd = onRequestEnd;
    this.replayBufferBytes = replayBufferBytes;
    this.replayMemory = createReplayMemory(replayMemoryBytes);
    this.transport = createClientTransport({ clock, maxConnections: connections, ...transport });
    this.#maxConnections = connections;
    this.#onDrain = onDrain;
    this.#book = new OriginBook(this.transport, resolveBudget(options.budget));
    this.#base = {
      retry: resolveRetry(options.retry),
      timeout: resolveTimeout(options.timeout),
      hedge: resolveHedge(options.hedge),
      budget: undefined,
      idempotencyKey: options.idempotencyKey,
      endpoints: options.endpoints === undefined ? undefined : readEndpoints(options.endpoints, this.#book),
    };
  }

  /** What holds for the requests of one call. @throws RangeError or TypeError for an option, naming it */
  call(options: CallOptions, began: Call['began']): Call {
    const own = callRules(this.#base, options, this.#book);
    const rules = { ...own, idempotencyKey: oneKey(own.idempotencyKey) };
    return { rules, deadlineAtMs: deadlineAt(rules.timeout.requestMs, this.clock.nowMs()), began };
  }

  /**
   * Sends one request.
   * @returns whether the origin takes another one at once; `onDrain` says when it does again
   * @throws what is wrong with the request; the handler was told nothing then
   */
  send(options: DispatchOptions, handler: RequestHandler, call: Call | undefined): boolean {
    const rules = call?.rules ?? (saysSomething(options) ? callRules(this.#base, options, this.#book) : this.#base);
    if (options.origin === undefined || options.origin === null || options.origin === '')
      throw new errors.InvalidArgumentError('opts.origin must be a non-empty string or URL.');
    const request = readDispatchRequest(options);
    const origin = this.#book.origin(options.origin);
    const isOneOfThem =
      rules.endpoints !== this.#base.endpoints || rules.endpoints?.some(({ key }) => key === origin.key);
    const others = isOneOfThem === true ? rules.endpoints : undefined;
    const destination = this.#book.destination(origin, others, rules.budget);
    const deadlineAtMs = call?.deadlineAtMs ?? deadlineAt(rules.timeout.requestMs, this.clock.nowMs());
    const exchange = new ClientExchange(this, handler, { options, request, rules, destination, deadlineAtMs });
    call?.began(exchange.report);
    exchange.start();
    return destination.running < this.#maxConnections;
  }

  began(request: RunningRequest): void {
    this.#running.add(request);
    request.destination.running += 1;
  }

  ended(request: RunningRequest): void {
    if (!this.#running.delete(request)) return;
    const { destination } = request;
    destination.running -= 1;
    if (destination.running === this.#maxConnections - 1) this.#onDrain(destination.origin.url);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Waits for every request, their retries included, then closes all connections. */
  async close(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    await this.transport.dispose();
  }

  /** Ends every request with this error, and closes all connections. */
  async destroy(error: Error): Promise<void> {
    for (const request of this.#running.snapshot()) request.abort(error);
    await this.transport.dispose();
  }
}

/** The hops of one call are one request to whoever made it: they carry one key. */
function oneKey(wanted: CallRules['idempotencyKey']): CallRules['idempotencyKey'] {
  if (wanted === undefined || typeof wanted === 'string') return wanted;
  let key: string | undefined;
  return () => (key ??= createIdempotencyKey(wanted));
}
