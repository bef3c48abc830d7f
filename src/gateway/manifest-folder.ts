import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigFault } from '../config/fault.ts';
import type { GatewayApiReading } from '../config/gateway-api/gateway-api.ts';
import { parseGatewayApi } from '../config/gateway-api/gateway-api.ts';
import type { ManifestFile } from '../config/gateway-api/resource.ts';
import { readTextFile, unreadable } from './text-file.ts';

/** Far above what people keep in one folder; a folder with more is another folder. */
const maxFileCount = 1000;

/**
 * Reads the `.yaml`, `.yml` and `.json` files of a folder, not of those in it, as Gateway API resources, by name. What
 * keeps one file from being read is a fault like any other, and does not take down the rest; never throws.
 */
export function readManifestFolder(folder: string): GatewayApiReading {
  const files: ManifestFile[] = [];
  const faults: ConfigFault[] = [];
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => !name.startsWith('.') && /\.(?:ya?ml|json)$/i.test(name));
  } catch (error) {
    return nothing(unreadable(folder, error));
  }
  if (names.length === 0)
    return nothing(fault(folder, 'holds no .yaml, .yml or .json file', 'give the folder that holds the resources'));
  if (names.length > maxFileCount)
    return nothing(
      fault(folder, `holds ${names.length} files`, `at most ${maxFileCount} are read: give another folder`),
    );
  for (const name of names.sort()) {
    const path = join(folder, name);
    try {
      files.push({ name: path, text: readTextFile(path) });
    } catch (error) {
      faults.push(unreadable(path, error));
    }
  }
  const reading = parseGatewayApi(files);
  return {
    ...reading,
    faults: [...faults, ...reading.faults],
    refused: [...faults.map(({ file }) => file), ...reading.refused],
  };
}

function nothing(only: ConfigFault): GatewayApiReading {
  return { config: undefined, conditions: [], faults: [only], refused: [only.file] };
}

function fault(file: string, message: string, hint: string): ConfigFault {
  return { severity: 'error', file, line: 1, column: 1, path: '', message, hint };
}
