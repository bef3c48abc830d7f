import type { OutcomeClass } from '../classify.ts';
import { requireWholeNumber } from '../require-whole-number.ts';
import { DependencyEdge, fadedShare, scaled, type DependencyReading } from './dependency-edge.ts';
import { isOperationName, readDependencySnapshot, type DependencySnapshot } from './dependency-snapshot.ts';
import { isOwnershipFailure, isSuperseded, type EdgeClass, type Outbound } from './outbound.ts';

/**
 * Learns which dependencies an operation cannot do without, from what became of its requests.
 * All times are the host's monotonic milliseconds, but where a wall clock is named.
 */
export interface DependencyMemory {
  /** Edges that are remembered; declared ones are not among them. */
  readonly edgeCount: number;
  /**
   * Takes in one answered request. A request in which calls of two operations failed teaches nothing, for it does not say
   * which one mattered; nor do calls that were cancelled, superseded, covered by a fallback, or still under way.
   */
  learn(inbound: string, answer: OutcomeClass, outbounds: readonly Outbound[], nowMs: number): void;
  /** What was declared for the edge, else what was learned or restored, else `unknown`. */
  edgeClass(inbound: string, callee: string, nowMs: number): EdgeClass;
  /** What was learned, whether or not something was declared; `undefined` for an edge that was never seen. */
  reading(inbound: string, callee: string, nowMs: number): DependencyReading | undefined;
  /** @param wallMs The wall clock: the next process's monotonic one begins elsewhere. */
  snapshot(nowMs: number, wallMs: number): DependencySnapshot;
  /**
   * Takes over what a former process knew, faded by the time since, below what this one has seen already.
   * @returns what is wrong with the data, in words, in which case nothing was taken over; else `undefined`
   */
  restore(data: unknown, nowMs: number, wallMs: number): string | undefined;
}

export interface DeclaredEdge {
  readonly inbound: string;
  readonly callee: string;
  readonly edge: EdgeClass;
}

export interface DependencyMemoryOptions {
  /** What is known for sure. It wins over what is learned. */
  readonly declared?: readonly DeclaredEdge[] | undefined;
  /** Edges remembered at most, 1–1 000 000; beyond, the one used longest ago is forgotten. Default 10 000. */
  readonly maxEdgeCount?: number | undefined;
}

/** @throws RangeError for a `maxEdgeCount` outside its range */
export function createDependencyMemory(options: DependencyMemoryOptions = {}): DependencyMemory {
  const maxEdgeCount = options.maxEdgeCount ?? 10_000;
  requireWholeNumber('dependency memory', 'maxEdgeCount', maxEdgeCount, 1, 1_000_000);
  return new LearnedMemory(options.declared ?? [], maxEdgeCount);
}

interface Remembered {
  readonly inbound: string;
  readonly callee: string;
  readonly state: DependencyEdge;
}

class LearnedMemory implements DependencyMemory {
  readonly #declared: ReadonlyMap<string, EdgeClass>;
  readonly #maxEdgeCount: number;
  /** In the order of use: the first is the one to forget. */
  readonly #edges = new Map<string, Remembered>();

  constructor(declared: readonly DeclaredEdge[], maxEdgeCount: number) {
    this.#declared = new Map(declared.map(({ inbound, callee, edge }) => [keyOf(inbound, callee), edge]));
    this.#maxEdgeCount = maxEdgeCount;
  }

  get edgeCount(): number {
    return this.#edges.size;
  }

  learn(inbound: string, answer: OutcomeClass, outbounds: readonly Outbound[], nowMs: number): void {
    if (answer === 'cancelled') return;
    const callerFailed = isOwnershipFailure(answer);
    const seen = new Set<string>();
    const failed = new Set<string>();
    let covered = false;
    for (const call of outbounds) {
      const { ending } = call;
      if (ending === undefined || ending.atMs > nowMs || ending.outcomeClass === 'cancelled') continue;
      if (isOwnershipFailure(ending.outcomeClass)) {
        if (isSuperseded(call, outbounds, nowMs)) continue;
        failed.add(call.operation);
        covered ||= call.covered;
      }
      seen.add(call.operation);
    }
    if (failed.size > 1 || covered) return;
    for (const callee of failed.size === 1 ? failed : seen) {
      this.#touch(inbound, callee, nowMs)?.add(failed.size === 1, callerFailed, nowMs);
    }
  }

  edgeClass(inbound: string, callee: string, nowMs: number): EdgeClass {
    const declared = this.#declared.get(keyOf(inbound, callee));
    return declared ?? this.reading(inbound, callee, nowMs)?.edge ?? 'unknown';
  }

  reading(inbound: string, callee: string, nowMs: number): DependencyReading | undefined {
    return this.#edges.get(keyOf(inbound, callee))?.state.read(nowMs);
  }

  snapshot(nowMs: number, wallMs: number): DependencySnapshot {
    const edges = Array.from(this.#edges.values(), ({ inbound, callee, state }) => {
      const { edge, tally } = state.read(nowMs);
      const { n11, n10, n01, n00 } = tally;
      return { inbound, callee, edge, n11: rounded(n11), n10: rounded(n10), n01: rounded(n01), n00: rounded(n00) };
    });
    return { version: 1, takenAtMs: wallMs, edges };
  }

  restore(data: unknown, nowMs: number, wallMs: number): string | undefined {
    const snapshot = readDependencySnapshot(data, this.#maxEdgeCount);
    if (typeof snapshot === 'string') return snapshot;
    const share = fadedShare(wallMs - snapshot.takenAtMs);
    const own = [...this.#edges];
    this.#edges.clear();
    for (const { inbound, callee, edge, n11, n10, n01, n00 } of snapshot.edges) {
      const state = new DependencyEdge(nowMs, scaled({ n11, n10, n01, n00 }, share), edge);
      this.#edges.set(keyOf(inbound, callee), { inbound, callee, state });
    }
    for (const [key, edge] of own) {
      this.#edges.delete(key);
      this.#edges.set(key, edge);
    }
    this.#forget();
    return undefined;
  }

  #touch(inbound: string, callee: string, nowMs: number): DependencyEdge | undefined {
    if (!isOperationName(inbound) || !isOperationName(callee)) return undefined;
    const key = keyOf(inbound, callee);
    const edge = this.#edges.get(key) ?? { inbound, callee, state: new DependencyEdge(nowMs) };
    this.#edges.delete(key);
    this.#edges.set(key, edge);
    this.#forget();
    return edge.state;
  }

  #forget(): void {
    for (const key of this.#edges.keys()) {
      if (this.#edges.size <= this.#maxEdgeCount) return;
      this.#edges.delete(key);
    }
  }
}

/** The length keeps `a` calling `bc` apart from `ab` calling `c`, whatever the names contain. */
function keyOf(inbound: string, callee: string): string {
  return `${String(inbound.length)}:${inbound}${callee}`;
}

/** A file of thousands of edges need not hold sixteen digits of each weight. */
function rounded(weight: number): number {
  return Math.round(weight * 1000) / 1000;
}
