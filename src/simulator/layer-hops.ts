import { createRetryPolicy, type RetryPolicy } from '../core/retry-policy.ts';
import type { TopologyCall, TopologyOperation, TopologyService } from './topology.ts';

/** A layer in the words of the code. */
export interface Layer extends Pick<TopologyCall, 'timeouts' | 'policy' | 'budget'> {
  readonly name: string;
  readonly participation: TopologyService['participation'];
}

/**
 * The layers between services and what they call. Each is a hop of its own, `shop~sdk/stock~reserve`, that takes no time and
 * calls the next one; `~` is in no name of a file.
 */
export class LayerHops {
  readonly services: TopologyService[] = [];
  readonly operations: TopologyOperation[] = [];
  readonly #offsets: { readonly services: number; readonly operations: number };
  readonly #names = new Set<string>();

  /** @param offsets how many services and operations stand before these */
  constructor(offsets: { readonly services: number; readonly operations: number }) {
    this.#offsets = offsets;
  }

  /**
   * Makes the call go through the layers.
   * @param add takes a call and says its index; `layer` is the one that makes it, `undefined` the caller
   * @returns the index of the caller's own call
   */
  callThrough(
    call: TopologyCall,
    {
      caller,
      target,
      layers,
    }: { readonly caller: string; readonly target: TopologyOperation; readonly layers: readonly Layer[] },
    add: (call: TopologyCall, layer: number | undefined) => number,
  ): number {
    let next = call.to;
    for (const [index, layer] of [...layers.entries()].toReversed()) {
      const { timeouts, policy, budget } = layer;
      const from = this.#offsets.operations + this.operations.length;
      const made: TopologyCall = {
        from,
        to: next,
        probability: 1,
        timeouts,
        policy,
        budget,
        maxInflightRequests: Infinity,
        breaker: undefined,
        edge: 'fail-closed',
      };
      this.operations.push({
        name: this.#nameOf(`${caller}~${layer.name}`, target.name),
        service: this.#serviceOf(`${caller}~${layer.name}`, layer.participation),
        method: target.method,
        keyed: target.keyed,
        serviceTime: { kind: 'constant', ms: 0 },
        errorRatio: 0,
        steps: [[add(made, index)]],
      });
      next = from;
    }
    return add({ ...call, to: next }, undefined);
  }

  /** One service a layer and caller, as long as it takes part in one way. */
  #serviceOf(name: string, participation: TopologyService['participation']): number {
    const known = this.services.findIndex((one) => one.name === name && one.participation === participation);
    if (known !== -1) return this.#offsets.services + known;
    const capacity = { workerCount: Infinity, queue: 'fifo', queueLimit: Infinity, blocking: false } as const;
    this.services.push({ name, participation, instanceCount: 1, capacity });
    return this.#offsets.services + this.services.length - 1;
  }

  #nameOf(service: string, target: string): string {
    const name = `${service}/${target.replaceAll('/', '~')}`;
    let unique = name;
    for (let count = 2; this.#names.has(unique); count += 1) unique = `${name}~${count}`;
    this.#names.add(unique);
    return unique;
  }
}

/** What a layer without retries does. */
export const NO_RETRIES: RetryPolicy = createRetryPolicy({ maxRetries: 0, on: [] });
