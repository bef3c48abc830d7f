import { crossChecks } from './cross-checks.ts';
import type { ConfigFault, DataFault } from './fault.ts';
import { formatPath, printable } from './fault.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { faultsOfIssues } from './schema-faults.ts';
import { gatewayFile } from './schema.ts';
import { placesIn } from './text-places.ts';
import { toConfig } from './to-config.ts';
import { readYaml } from './yaml-source.ts';

export type ParsedConfig =
  | { readonly ok: true; readonly config: GatewayConfig; readonly warnings: readonly ConfigFault[] }
  /** Warnings among the faults included; at least one is an error. */
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** A file with more faults than this is the wrong file; what it holds must not flood a terminal or a log. */
const maxFaultCount = 100;

/**
 * Reads a gateway file. Finds every fault in one run, ordered by place; never throws.
 * @param fileName What faults call the file.
 */
export function parseConfig(text: string, fileName: string): ParsedConfig {
  const source = readYaml(text);
  const placed = placer(text, fileName);
  const faults: ConfigFault[] = source.faults.map((fault) => placed(fault.offset, fault));
  let config: GatewayConfig | undefined;
  if (source.data !== undefined) {
    const result = gatewayFile.safeParse(source.data);
    const found = [
      ...(result.success ? [] : faultsOfIssues(result.error.issues, gatewayFile, source.data)),
      ...crossChecks(source.data),
    ];
    const seen = new Set<string>();
    for (const fault of found) {
      // Two checks may see one fault (an empty list, say): the first one's words stand.
      const key = JSON.stringify([fault.severity ?? 'error', fault.path]);
      if (seen.has(key)) continue;
      seen.add(key);
      faults.push(placed(source.offsetOf(fault.path, fault.atKey === true), fault));
    }
    if (result.success) config = toConfig(result.data);
  }
  faults.sort((a, b) => a.line - b.line || a.column - b.column);
  if (config !== undefined && faults.every((fault) => fault.severity === 'warning'))
    return { ok: true, config, warnings: faults };
  return { ok: false, faults: limited(faults, fileName) };
}

function limited(faults: readonly ConfigFault[], fileName: string): readonly ConfigFault[] {
  if (faults.length <= maxFaultCount) return faults;
  const kept = faults
    .toSorted((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
    .slice(0, maxFaultCount);
  const last = kept.at(-1)!;
  return [
    ...kept,
    {
      severity: 'error',
      file: fileName,
      line: last.line,
      column: last.column,
      path: '',
      message: `${faults.length - maxFaultCount} more faults are not shown`,
      hint: 'correct these first',
    },
  ];
}

function placer(
  text: string,
  file: string,
): (offset: number, fault: Pick<DataFault, 'severity' | 'path' | 'message' | 'hint'>) => ConfigFault {
  const placeOf = placesIn(text);
  return (offset, { severity = 'error', path, message, hint }) => ({
    severity,
    file,
    ...placeOf(offset),
    path: printable(formatPath(path), 120),
    message,
    hint,
  });
}
