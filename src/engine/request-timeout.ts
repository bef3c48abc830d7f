import { serializeItem } from 'structured-headers';
import { MAX_DELAY_MS } from '../core/deadline.ts';
import { removeFields } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';
import { readItem, type ItemFault } from './structured-item.ts';

const NAME = 'Request-Timeout';
const NAMES: ReadonlySet<string> = new Set([NAME.toLowerCase()]);

/** What a request's fields say of the time that its caller waits. */
export interface TimeoutReading {
  /** Milliseconds from the arrival of the request, a whole number from 1 to the `maxMs` that was given. */
  readonly timeoutMs: number | undefined;
  /** Why one that is there was not believed. */
  readonly fault: ItemFault | undefined;
}

/**
 * Reads `Request-Timeout: 1750`, an RFC 9651 integer: the milliseconds that the caller still waits. It is relative, so no
 * clocks are compared.
 * @param maxMs What the host itself allows: a caller may ask for less time, never for more.
 */
export function readRequestTimeout(fields: FieldList, maxMs: number): TimeoutReading {
  const reading = readItem(fields, NAME);
  if (reading.type === 'absent') return { timeoutMs: undefined, fault: undefined };
  if (reading.type === 'fault') return { timeoutMs: undefined, fault: reading.fault };
  const [value] = reading.item;
  if (typeof value !== 'number') return { timeoutMs: undefined, fault: 'unknown-value' };
  return { timeoutMs: Math.max(1, Math.min(Math.floor(value), maxMs, MAX_DELAY_MS)), fault: undefined };
}

/**
 * The fields of an attempt that tell the callee how long is waited for it.
 * @param remainingMs until the deadline of the request; `Infinity` for none, and then nothing is told
 * @param marginMs kept for the way back, so that the callee's own deadline comes first and its answer still arrives
 */
export function withRequestTimeout(fields: FieldList, remainingMs: number, marginMs: number): FieldList {
  const others = removeFields(fields, NAMES);
  if (!(remainingMs < Infinity)) return others;
  const leftMs = Math.floor(Math.min(remainingMs - marginMs, MAX_DELAY_MS));
  return [...others, NAME, serializeItem(Math.max(1, leftMs))];
}
