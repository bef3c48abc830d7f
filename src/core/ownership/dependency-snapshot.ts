import type { CoFailureTally } from './causal-power.ts';
import type { EdgeClass } from './outbound.ts';

/** What a dependency memory knows, as plain data: what a process leaves to the next one. */
export interface DependencySnapshot {
  readonly version: 1;
  /** Wall clock, milliseconds since 1970. */
  readonly takenAtMs: number;
  /** The one used longest ago first. */
  readonly edges: readonly DependencySnapshotEdge[];
}

export interface DependencySnapshotEdge extends CoFailureTally {
  readonly inbound: string;
  readonly callee: string;
  readonly edge: EdgeClass;
}

/** Longest name of an operation, in UTF-16 units; calls of longer ones are not remembered. */
export const MAX_OPERATION_LENGTH = 200;

/** Far above any weight that fading leaves, far below where sums lose exactness. */
const MAX_WEIGHT = 1e6;

const EDGE_CLASSES: ReadonlySet<unknown> = new Set<EdgeClass>(['fail-closed', 'fail-open', 'unknown']);

/**
 * Checks data that claims to be a snapshot (it was read from a file, and files are edited and cut).
 * @returns the snapshot with nothing in it but the known fields, or what is wrong with the data, in words
 */
export function readDependencySnapshot(data: unknown, maxEdgeCount: number): DependencySnapshot | string {
  if (!isRecord(data)) return 'the snapshot is not an object';
  const { version, takenAtMs, edges } = data;
  if (version !== 1) return `the snapshot's version is ${JSON.stringify(version)}; this release reads version 1`;
  if (!isNumberUpTo(takenAtMs, Number.MAX_SAFE_INTEGER))
    return "the snapshot's takenAtMs is not a time in milliseconds";
  if (!Array.isArray(edges)) return "the snapshot's edges are not a list";
  const list: readonly unknown[] = edges;
  // Of too many, the ones used last are kept: they stand at the end.
  const first = Math.max(0, list.length - maxEdgeCount);
  const checked: DependencySnapshotEdge[] = [];
  for (let index = first; index < list.length; index += 1) {
    const edge = readEdge(list[index]);
    if (typeof edge === 'string') return `the snapshot's edges[${String(index)}]: ${edge}`;
    checked.push(edge);
  }
  return { version, takenAtMs, edges: checked };
}

export function isOperationName(name: unknown): name is string {
  return typeof name === 'string' && name.length > 0 && name.length <= MAX_OPERATION_LENGTH;
}

function readEdge(data: unknown): DependencySnapshotEdge | string {
  if (!isRecord(data)) return 'it is not an object';
  const { inbound, callee, edge, n11, n10, n01, n00 } = data;
  if (!isOperationName(inbound)) return `inbound is not a text of 1 to ${String(MAX_OPERATION_LENGTH)} characters`;
  if (!isOperationName(callee)) return `callee is not a text of 1 to ${String(MAX_OPERATION_LENGTH)} characters`;
  if (!isEdgeClass(edge)) return 'edge is none of fail-closed, fail-open, unknown';
  if (!isWeight(n11) || !isWeight(n10) || !isWeight(n01) || !isWeight(n00)) {
    return `n11, n10, n01 and n00 are not all numbers from 0 to ${String(MAX_WEIGHT)}`;
  }
  return { inbound, callee, edge, n11, n10, n01, n00 };
}

function isRecord(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

function isEdgeClass(value: unknown): value is EdgeClass {
  return EDGE_CLASSES.has(value);
}

function isWeight(value: unknown): value is number {
  return isNumberUpTo(value, MAX_WEIGHT);
}

function isNumberUpTo(value: unknown, highest: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= highest;
}
