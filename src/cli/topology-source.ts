import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type ConfigFault, formatFault, printable } from '../config/fault.ts';
import { readSource } from '../simulator/read-source.ts';
import type { SourceFormat, TopologySource } from '../simulator/topology-source.ts';

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'it may not be read',
  EILSEQ: 'it is not UTF-8 text',
  EFBIG: 'it is larger than 64 MiB: give a sample of the traces',
};

/** Traces are larger than what people write; related to each other they take many times their size in memory. */
const LARGEST_BYTES = 64 * 1024 * 1024;

/**
 * Says what is wrong, warnings too; `undefined` when there is an error.
 * @param tell Default: on standard error.
 */
export function loadSource(
  path: string,
  format?: SourceFormat,
  tell: (fault: ConfigFault) => void = tellOnStandardError,
): TopologySource | undefined {
  let text: string;
  try {
    text = readBounded(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    tell(unreadable(path, WHY[code] ?? String(error)));
    return undefined;
  }
  const reading = readSource(text, path, format);
  const faults = reading.ok ? reading.source.warnings : reading.faults;
  for (const fault of faults) tell(fault);
  return reading.ok ? reading.source : undefined;
}

/** @throws the system's error; EFBIG for a file over the limit, EILSEQ for one that is not UTF-8 */
function readBounded(path: string): string {
  // O_NONBLOCK: a named pipe without a writer must not hang a build.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = fstatSync(fd);
    if (status.isDirectory()) throw coded('EISDIR');
    if (status.size > LARGEST_BYTES) throw coded('EFBIG');
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = Buffer.alloc(Math.max(65_536, status.size - length + 1));
      const readBytes = readSync(fd, chunk, 0, chunk.length, null);
      if (readBytes === 0) break;
      length += readBytes;
      if (length > LARGEST_BYTES) throw coded('EFBIG');
      chunks.push(chunk.subarray(0, readBytes));
    }
    return decode(Buffer.concat(chunks));
  } finally {
    closeSync(fd);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw coded('EILSEQ');
  }
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function unreadable(file: string, why: string): ConfigFault {
  return { severity: 'error', file, line: 1, column: 1, path: '', message: `cannot be read: ${why}`, hint: '' };
}

function tellOnStandardError(fault: ConfigFault): void {
  process.stderr.write(`${printable(formatFault(fault), Infinity)}\n`);
}
