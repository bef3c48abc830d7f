import type { Reading } from '../config/quantity.ts';
import { readDuration } from '../config/quantity.ts';
import type { Part } from '../config/schema-parts.ts';
import { part } from '../config/schema-parts.ts';

/** A duration in which parts of a millisecond count: `0.25ms`. */
export function readWork(input: unknown): Reading<number> {
  const match = typeof input === 'string' ? /^(\d{1,9}\.\d{1,6})ms$/.exec(input) : null;
  return match === null ? readDuration(input) : { ok: true, value: Number(match[1]) };
}

export const work = (description: string): Part<number> =>
  part(description, { type: 'string', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$' }, readWork);
