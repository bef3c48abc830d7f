import { fieldValues } from '../../http1/field-list.ts';
import type { FieldList } from '../../http1/message.ts';
import { ALLOWED_METHODS } from '../allowed-methods.ts';
import type { LocalAnswer } from '../phases.ts';

/**
 * How many hops may still forward the request (RFC 9110 §7.6.2): each takes one away, and the last one answers itself. Only
 * TRACE and OPTIONS count them. `undefined`: as many as there are; NaN: nobody can tell.
 */
export function maxForwards(method: string, fields: FieldList): number | undefined {
  if (method !== 'OPTIONS' && method !== 'TRACE') return undefined;
  const values = fieldValues(fields, 'max-forwards');
  if (values.length === 0) return undefined;
  return values.length === 1 && /^\d{1,9}$/.test(values[0]!) ? Number(values[0]) : NaN;
}

/** The answer of a proxy that must not forward the request. It reflects no TRACE: what was sent may hold secrets. */
export function lastRecipient(method: string): LocalAnswer {
  return method === 'OPTIONS' ? { status: 204, fields: ['Allow', ALLOWED_METHODS] } : { status: 501 };
}
