import type { ConfigFault } from '../config/fault.ts';
import { readSource } from './read-source.ts';
import type { Topology } from './topology.ts';

export type ReadTopology =
  | { readonly ok: true; readonly topology: Topology; readonly warnings: readonly ConfigFault[] }
  /** Warnings among the faults included; at least one is an error. */
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/**
 * Reads a topology file (YAML). Finds every fault in one run, ordered by place; never throws.
 * @param fileName What faults call the file.
 */
export function readTopology(text: string, fileName: string): ReadTopology {
  const reading = readSource(text, fileName, 'topology');
  if (!reading.ok) return reading;
  const { topology, warnings } = reading.source;
  return { ok: true, topology, warnings };
}
