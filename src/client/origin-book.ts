import type { RetryBudget } from '../core/retry-budget.ts';
import { createUpstream } from '../engine/upstream.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { Transport } from '../transport/transport.ts';
import { LatencyWindow } from './latency-window.ts';
import type { Origin } from './origin.ts';
import { readOrigin } from './origin.ts';

/** A permit for each attempt is what a gateway needs; a client is bounded by its connections. */
const MAX_INFLIGHT = 1_000_000;
/** A crawler meets ever new origins: what was not used for longest is forgotten beyond this many. */
const MAX_KNOWN = 1024;

/** An origin with those that stand in for it, and what is known of them. */
export interface Destination {
  readonly origin: Origin;
  readonly upstream: Upstream;
  readonly latency: LatencyWindow;
  /** Requests under way. */
  running: number;
}

/** What a client knows of the origins it talks to: budgets, latencies, endpoints that are down. */
export class OriginBook {
  readonly #transport: Transport;
  readonly #createBudget: () => RetryBudget;
  readonly #origins = new Map<string, Origin>();
  readonly #budgets = new Map<string, RetryBudget>();
  readonly #destinations = new Map<string, Destination>();
  /** For budgets that a single call brings. */
  readonly #apart = new WeakMap<RetryBudget, Map<string, Destination>>();

  constructor(transport: Transport, budget: () => RetryBudget) {
    this.#transport = transport;
    this.#createBudget = budget;
  }

  /** @throws TypeError for what is no http or https URL */
  origin(text: string | URL): Origin {
    const key = typeof text === 'string' ? text : text.origin;
    return lookUp(this.#origins, key) ?? keep(this.#origins, key, readOrigin(text));
  }

  /** @param others Origins that answer the same requests; the origin's own comes first. */
  destination(origin: Origin, others: readonly Origin[] | undefined, budget: RetryBudget | undefined): Destination {
    // The common case, on the way of every request.
    const plain = others === undefined && budget === undefined ? lookUp(this.#destinations, origin.key) : undefined;
    if (plain !== undefined) return plain;
    const all = others === undefined ? [origin] : [origin, ...others.filter(({ key }) => key !== origin.key)];
    const key = all.length === 1 ? origin.key : all.map((one) => one.key).join(' ');
    if (budget === undefined) {
      const known = lookUp(this.#destinations, key);
      return known ?? keep(this.#destinations, key, this.#create(all, this.#budgetOf(origin)));
    }
    let apart = this.#apart.get(budget);
    if (apart === undefined) this.#apart.set(budget, (apart = new Map<string, Destination>()));
    return lookUp(apart, key) ?? keep(apart, key, this.#create(all, budget));
  }

  #create(all: readonly [Origin, ...Origin[]] | readonly Origin[], budget: RetryBudget): Destination {
    const [origin] = all as readonly [Origin];
    const upstream = createUpstream({
      name: origin.key,
      // A tier each: the next one is for what the one before was tried for, or cannot be reached.
      endpoints: all.map((address, priority) => ({ address, authority: address.authority, priority })),
      transport: this.#transport,
      budget,
      maxInflightRequests: MAX_INFLIGHT,
      onOverflow: 'original',
    });
    return { origin, upstream, latency: new LatencyWindow(), running: 0 };
  }

  #budgetOf(origin: Origin): RetryBudget {
    return lookUp(this.#budgets, origin.key) ?? keep(this.#budgets, origin.key, this.#createBudget());
  }
}

/** The value of a key; moves it to the end, so that the first is the longest unused. */
function lookUp<T>(map: Map<string, T>, key: string): T | undefined {
  const known = map.get(key);
  if (known !== undefined && map.size >= MAX_KNOWN) {
    map.delete(key);
    map.set(key, known);
  }
  return known;
}

function keep<T>(map: Map<string, T>, key: string, value: T): T {
  if (map.size >= MAX_KNOWN) map.delete(map.keys().next().value!);
  map.set(key, value);
  return value;
}
