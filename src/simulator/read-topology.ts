import type { FileForm } from '../config/checked-source.ts';
import { checkSource, limitFaults } from '../config/checked-source.ts';
import type { ConfigFault } from '../config/fault.ts';
import { toTopology } from './to-topology.ts';
import { topologyChecks } from './topology-checks.ts';
import type { TopologyFile } from './topology-file.ts';
import { topologyFile } from './topology-schema.ts';
import type { Topology } from './topology.ts';

export type ReadTopology =
  | { readonly ok: true; readonly topology: Topology; readonly warnings: readonly ConfigFault[] }
  /** Warnings among the faults included; at least one is an error. */
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

const form: FileForm<TopologyFile> = {
  schema: topologyFile,
  crossChecks: topologyChecks,
  emptyHint: 'it needs at least `services` and `workload`',
};

/**
 * Reads a topology file (YAML). Finds every fault in one run, ordered by place; never throws.
 * @param fileName What faults call the file.
 */
export function readTopology(text: string, fileName: string): ReadTopology {
  const { file, faults } = checkSource(text, fileName, form);
  if (file !== undefined && faults.every((fault) => fault.severity === 'warning'))
    return { ok: true, topology: toTopology(file).topology, warnings: faults };
  return { ok: false, faults: limitFaults(faults, fileName) };
}
