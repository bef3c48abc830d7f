import { readFileSync } from 'node:fs';
import { formatFault } from '../config/fault.ts';
import { readTopology } from '../simulator/read-topology.ts';
import type { Topology } from '../simulator/topology.ts';

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'it may not be read',
};

/** Says what is wrong on standard error, warnings too; `undefined` when there is an error. */
export function loadTopology(path: string): Topology | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    process.stderr.write(`${path}:1:1 cannot be read: ${WHY[code] ?? String(error)}\n`);
    return undefined;
  }
  const reading = readTopology(text, path);
  const faults = reading.ok ? reading.warnings : reading.faults;
  for (const fault of faults) process.stderr.write(`${formatFault(fault)}\n`);
  return reading.ok ? reading.topology : undefined;
}
