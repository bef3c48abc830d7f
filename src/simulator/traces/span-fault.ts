import type { DataPath } from '../../config/fault.ts';
import type { Mapping } from '../../config/plain-data.ts';
import { isMapping } from '../../config/plain-data.ts';

/** What keeps a file from being read as spans; thrown inside the readers of traces, told as a fault by `readTraces`. */
export class SpanFault extends Error {
  readonly path: DataPath;
  readonly hint: string;

  constructor(path: DataPath, message: string, hint: string) {
    super(message);
    this.name = 'SpanFault';
    this.path = path;
    this.hint = hint;
  }
}

export function requireText(value: unknown, path: DataPath, hint: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new SpanFault(path, value === undefined ? 'is missing' : 'must be text', hint);
}

export function requireMapping(value: unknown, path: DataPath, hint: string): Mapping {
  if (isMapping(value)) return value;
  throw new SpanFault(path, value === undefined ? 'is missing' : 'must be an object', hint);
}

export function requireList(value: unknown, path: DataPath, hint: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new SpanFault(path, value === undefined ? 'is missing' : 'must be an array', hint);
}

/** Microseconds or nanoseconds, as a number or as the text of one. */
export function requireTime(value: unknown, path: DataPath, hint: string): number {
  const time = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof time === 'number' && Number.isFinite(time) && time >= 0) return time;
  throw new SpanFault(path, value === undefined ? 'is missing' : 'is not a time', hint);
}
