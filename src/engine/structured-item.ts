import { parseItem, Token, type Item } from 'structured-headers';
import { fieldValues } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';

/** Why a field that is there says nothing. One word each, for counters. */
export type ItemFault = 'repeated' | 'too-long' | 'not-ascii' | 'malformed' | 'too-many-parameters' | 'unknown-value';

export type ItemReading =
  | { readonly type: 'item'; readonly item: Item }
  | { readonly type: 'absent' }
  | { readonly type: 'fault'; readonly fault: ItemFault };

const MAX_CHARACTERS = 256;
const MAX_PARAMETERS = 8;
const ABSENT: ItemReading = { type: 'absent' };

/**
 * Reads a field of ours that is one RFC 9651 item, as a stranger may have written it. What is there twice, longer than 256
 * characters, not plain ASCII or no item is not believed in any part.
 */
export function readItem(fields: FieldList, name: string): ItemReading {
  const [value, ...more] = fieldValues(fields, name);
  if (value === undefined) return ABSENT;
  if (more.length > 0) return faulty('repeated');
  if (value.length > MAX_CHARACTERS) return faulty('too-long');
  if (!/^[\x20-\x7e]*$/.test(value)) return faulty('not-ascii');
  let item: Item;
  try {
    item = parseItem(value);
  } catch {
    return faulty('malformed');
  }
  return item[1].size > MAX_PARAMETERS ? faulty('too-many-parameters') : { type: 'item', item };
}

export function faulty(fault: ItemFault): ItemReading & { readonly type: 'fault' } {
  return { type: 'fault', fault };
}

/** The text of a token or a string; what people write by hand is now the one, now the other. */
export function textOf(value: unknown): string | undefined {
  if (value instanceof Token) return value.toString();
  return typeof value === 'string' ? value : undefined;
}
