import type { FileForm } from './checked-source.ts';
import { checkSource, limitFaults } from './checked-source.ts';
import { crossChecks } from './cross-checks.ts';
import type { ConfigFault } from './fault.ts';
import type { GatewayConfig } from './gateway-config.ts';
import type { GatewayFile } from './gateway-file.ts';
import { gatewayFile } from './schema.ts';
import { toConfig } from './to-config.ts';

export type ParsedConfig =
  | { readonly ok: true; readonly config: GatewayConfig; readonly warnings: readonly ConfigFault[] }
  /** Warnings among the faults included; at least one is an error. */
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

const form: FileForm<GatewayFile> = {
  schema: gatewayFile,
  crossChecks,
  emptyHint:
    'it needs at least `listeners`, `upstreams` and `routes`; see `mulligan proxy --help` for a gateway without a file',
};

/**
 * Reads a gateway file. Finds every fault in one run, ordered by place; never throws.
 * @param fileName What faults call the file.
 */
export function parseConfig(text: string, fileName: string): ParsedConfig {
  const { file, faults } = checkSource(text, fileName, form);
  if (file !== undefined && faults.every((fault) => fault.severity === 'warning'))
    return { ok: true, config: toConfig(file), warnings: faults };
  return { ok: false, faults: limitFaults(faults, fileName) };
}
