import { isIdempotent } from '../../core/safety.ts';
import type { FieldList } from '../../http1/message.ts';
import type { CallOptions } from '../options.ts';

/** The field that makes a request repeatable, where it is not by its method; none where no key is wanted. */
export function keyField(idempotencyKey: CallOptions['idempotencyKey'], method: string): FieldList {
  if (idempotencyKey === undefined || isIdempotent(method)) return [];
  if (idempotencyKey === true) return ['Idempotency-Key', crypto.randomUUID()];
  return ['Idempotency-Key', typeof idempotencyKey === 'function' ? idempotencyKey() : idempotencyKey];
}
