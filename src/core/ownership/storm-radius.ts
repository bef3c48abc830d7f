import { requireWholeNumber } from '../require-whole-number.ts';
import type { CallEdge, CallGraph, CallNode, Participation } from './call-graph.ts';

/** The worst that retries can do below one root when one of the services on its call paths fails every request. */
export interface StormRadius {
  /** The largest number of retrying edges on one call path. */
  readonly radius: number;
  /** The names on such a path, from the root to the service that fails. */
  readonly path: readonly string[];
  /** The most requests that a failing service gets over one call path for one request at the root. */
  readonly amplification: number;
  readonly amplifiedPath: readonly string[];
  /** The same once budgets hold: the largest product of 1 + what the budget of each retrying edge lets through. */
  readonly sustained: number;
  readonly sustainedPath: readonly string[];
}

/**
 * Follows every call path below `root` and lets each of its services be the one that fails. An edge retries when it has a
 * policy, and its caller is legacy or its callee does not say `relayed`; a cooperating service says so when the edge below
 * it has a policy or brought the same word from further down.
 *
 * @throws RangeError for an edge of an unknown service, a service named twice, an unknown root, a number of retries or a
 *   share below 0, or a circle of calls: a path that never ends has no largest number of anything
 */
export function stormRadius(graph: CallGraph, root: string): StormRadius {
  const worst = new Search(graph).from(root);
  const byRadius = best(worst, (from) => from.radius);
  const byAmplification = best(worst, (from) => from.amplification);
  const bySustained = best(worst, (from) => from.sustained);
  return {
    radius: byRadius.radius.value,
    path: byRadius.radius.path,
    amplification: byAmplification.amplification.value,
    amplifiedPath: byAmplification.amplification.path,
    sustained: bySustained.sustained.value,
    sustainedPath: bySustained.sustained.path,
  };
}

/** What one edge does when the callee below it says so. */
export function isRetrying(caller: Participation, maxRetries: number, calleeRelays: boolean): boolean {
  return maxRetries > 0 && (caller === 'legacy' || !calleeRelays);
}

/** What a service says to its own caller about an error that came over an edge with so many retries. */
export function isRelaying(service: Participation, maxRetries: number, calleeRelays: boolean): boolean {
  return service === 'cooperating' && (maxRetries > 0 || calleeRelays);
}

interface Reading {
  readonly value: number;
  readonly path: readonly string[];
}

/** The worst paths that begin at a service, among those on which it says one and the same to its caller. */
interface Worst {
  readonly radius: Reading;
  readonly amplification: Reading;
  readonly sustained: Reading;
}

/** By what the service says: a path that is worse below may be harmless above, because it ends in another word. */
interface WorstByWord {
  readonly relaying: Worst | undefined;
  readonly owning: Worst;
}

class Search {
  readonly #services = new Map<string, { readonly node: CallNode; readonly calls: CallEdge[] }>();
  readonly #found = new Map<string, WorstByWord>();

  constructor(graph: CallGraph) {
    for (const node of graph.nodes) {
      if (this.#services.has(node.name)) throw new RangeError(`call graph: ${node.name} is named twice`);
      this.#services.set(node.name, { node, calls: [] });
    }
    for (const edge of graph.edges) {
      const caller = this.#service(edge.from, `the caller of ${edge.to}`);
      this.#service(edge.to, `the callee of ${edge.from}`);
      requireWholeNumber('call graph', `maxRetries of ${edge.from} to ${edge.to}`, edge.maxRetries, 0, 1000);
      const { retryShare = 0 } = edge;
      if (!(retryShare >= 0)) throw new RangeError(`call graph: retryShare of ${edge.from} to ${edge.to} is below 0`);
      caller.calls.push(edge);
    }
  }

  from(name: string, above: readonly string[] = []): WorstByWord {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    if (above.includes(name)) {
      throw new RangeError(
        `call graph: ${[...above.slice(above.indexOf(name)), name].join(' -> ')} is a circle; leave out the call that closes it`,
      );
    }
    const { node, calls } = this.#service(name, 'the root');
    const alone: Reading = { value: 1, path: [name] };
    const itself: Worst = { radius: { value: 0, path: [name] }, amplification: alone, sustained: alone };
    let relaying: Worst | undefined;
    let owning = itself;
    for (const { to, maxRetries, retryShare = maxRetries } of calls) {
      const below = this.from(to, [...above, name]);
      for (const [worst, relays] of [[below.relaying, true] as const, [below.owning, false] as const]) {
        if (worst === undefined) continue;
        const retryCount = isRetrying(node.participation, maxRetries, relays) ? maxRetries : 0;
        const here = extended(worst, name, retryCount, Math.min(retryCount, retryShare));
        if (isRelaying(node.participation, maxRetries, relays)) relaying = worse(relaying, here);
        else owning = worse(owning, here);
      }
    }
    const found: WorstByWord = { relaying, owning };
    this.#found.set(name, found);
    return found;
  }

  #service(name: string, role: string): { readonly node: CallNode; readonly calls: CallEdge[] } {
    const service = this.#services.get(name);
    if (service === undefined) throw new RangeError(`call graph: ${name}, ${role}, is not among the nodes`);
    return service;
  }
}

function extended({ radius, amplification, sustained }: Worst, name: string, retryCount: number, share: number): Worst {
  return {
    radius: { value: radius.value + (retryCount > 0 ? 1 : 0), path: [name, ...radius.path] },
    amplification: { value: amplification.value * (retryCount + 1), path: [name, ...amplification.path] },
    sustained: { value: sustained.value * (share + 1), path: [name, ...sustained.path] },
  };
}

function worse(one: Worst | undefined, other: Worst): Worst {
  if (one === undefined) return other;
  return {
    radius: larger(one.radius, other.radius),
    amplification: larger(one.amplification, other.amplification),
    sustained: larger(one.sustained, other.sustained),
  };
}

function larger(one: Reading, other: Reading): Reading {
  return other.value > one.value ? other : one;
}

function best(found: WorstByWord, reading: (worst: Worst) => Reading): Worst {
  const { relaying, owning } = found;
  return relaying !== undefined && reading(relaying).value > reading(owning).value ? relaying : owning;
}
