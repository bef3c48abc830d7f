import type { FileForm } from '../config/checked-source.ts';
import { topologyChecks } from './topology-checks.ts';
import type { TopologyFile } from './topology-file.ts';
import { topologyFile } from './topology-schema.ts';

/** What a topology file must look like. */
export const topologyForm: FileForm<TopologyFile> = {
  schema: topologyFile,
  crossChecks: topologyChecks,
  emptyHint: 'it needs at least `services` and `workload`',
};
