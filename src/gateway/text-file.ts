import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { ConfigFault } from '../config/fault.ts';
import { yamlLimits } from '../config/yaml-walk.ts';

/** What a file or folder that could not be opened says to the person who named it. */
export function unreadable(path: string, error: unknown): ConfigFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = ADVICE[code]?.[0] ?? (error instanceof Error ? error.message : String(error));
  return {
    severity: 'error',
    file: path,
    line: 1,
    column: 1,
    path: '',
    message: `cannot be read: ${message}`,
    hint: ADVICE[code]?.[1] ?? 'give the path of a gateway file',
  };
}

const ADVICE: Readonly<Record<string, readonly [string, string]>> = {
  ENOENT: ['there is no such file', 'is the path right, and relative to the working directory?'],
  ENOTDIR: ['it is a file', 'name the folder it is in'],
  EISDIR: ['it is a directory', 'name the file in it'],
  EILSEQ: ['it is not UTF-8 text', 'save it as UTF-8'],
  EACCES: ['permission denied', 'let the user of this process read it'],
};

/** @throws the system's error; EILSEQ for a text that is not UTF-8. A text over the YAML limit is cut behind it. */
export function readTextFile(path: string): string {
  // O_NONBLOCK: a named pipe without a writer must not hang a reload.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (fstatSync(fd).isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    // One byte more than allowed: the parser then says what is wrong. A larger file is not read into memory.
    const buffer = Buffer.alloc(yamlLimits.textBytes + 1);
    let length = 0;
    for (;;) {
      const readBytes = readSync(fd, buffer, length, buffer.length - length, null);
      length += readBytes;
      if (readBytes === 0 || length === buffer.length) return decode(buffer.subarray(0, length));
    }
  } finally {
    closeSync(fd);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw Object.assign(new Error('not UTF-8'), { code: 'EILSEQ' });
  }
}
