import type { ParsedConfig } from '../config/parse.ts';
import { parseConfig } from '../config/parse.ts';
import { readTextFile, unreadable } from './text-file.ts';
import { createTlsFiles } from './tls-files.ts';

/** Reads and checks a gateway file. What keeps it from being read is a fault like any other; never throws. */
export function readConfigFile(path: string): ParsedConfig {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    return { ok: false, faults: [unreadable(path, error)] };
  }
  return parseConfig(text, path, createTlsFiles(path));
}
