import type { FileForm } from './checked-source.ts';
import { checkSource, limitFaults } from './checked-source.ts';
import { crossChecks } from './cross-checks.ts';
import type { ConfigFault } from './fault.ts';
import type { GatewayConfig } from './gateway-config.ts';
import type { GatewayFile } from './gateway-file.ts';
import { gatewayFile } from './schema.ts';
import type { TlsFiles } from './tls-files.ts';
import { toConfig } from './to-config.ts';

export type ParsedConfig =
  | { readonly ok: true; readonly config: GatewayConfig; readonly warnings: readonly ConfigFault[] }
  /** Warnings among the faults included; at least one is an error. */
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

const form: Omit<FileForm<GatewayFile>, 'crossChecks'> = {
  schema: gatewayFile,
  emptyHint:
    'it needs at least `listeners`, `upstreams` and `routes`; see `mulligan proxy --help` for a gateway without a file',
};

/**
 * Reads a gateway file. Finds every fault in one run, ordered by place; never throws.
 * @param fileName What faults call the file.
 * @param files Certificates and keys that the text names; without it they are not looked at, and paths stay as they are.
 */
export function parseConfig(text: string, fileName: string, files?: TlsFiles): ParsedConfig {
  const { file, faults } = checkSource(text, fileName, { ...form, crossChecks: (data) => crossChecks(data, files) });
  if (file !== undefined && faults.every((fault) => fault.severity === 'warning'))
    return { ok: true, config: toConfig(file, files?.resolve), warnings: faults };
  return { ok: false, faults: limitFaults(faults, fileName) };
}
