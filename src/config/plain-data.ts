import type { DataFault, DataPath } from './fault.ts';
import { printable } from './fault.ts';
import { readDuration } from './quantity.ts';

/** A mapping of the file, before anything is known of it. */
export type Mapping = Readonly<Record<string, unknown>>;

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function mapping(value: unknown): Mapping {
  return isMapping(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function durationMs(value: unknown, fallback?: string): number | undefined {
  const reading = readDuration(value === undefined ? fallback : value);
  return reading.ok ? reading.value : undefined;
}

/** Values that stand in a list twice. */
export function repeats(path: DataPath, values: readonly unknown[], key: (value: unknown) => string): DataFault[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    if (!seen.has(key(value))) {
      seen.add(key(value));
      return [];
    }
    return [
      { path: [...path, index], message: `${printable(String(value))} is there twice`, hint: 'remove one of the two' },
    ];
  });
}
