import { parseDictionary, serializeDictionary } from 'structured-headers';
import { fieldValues, hasField, removeFields } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';

/**
 * What a request says about its own history: `Request-Attempt: n=2, lineage=1, can-retry`, an RFC 9651 dictionary. `n`
 * counts the sends of the hop that wrote it, `lineage` all retries made on the way here, by that hop and those above it.
 * `can-retry` is for whoever reads what a callee got: nothing is decided by it.
 */
export interface RequestAttempt {
  /** 1–16. */
  readonly attempt: number;
  /** 0–16. */
  readonly lineage: number;
}

const NAME = 'Request-Attempt';
const NAMES: ReadonlySet<string> = new Set([NAME.toLowerCase()]);
const MAX_CHARACTERS = 256;
const MAX_MEMBERS = 8;
/** Nobody's retries reach this far; a larger number is someone's invention. */
const MAX_COUNT = 16;

/**
 * Reads the field. It can only take retries away from a request, so it is believed whoever sent it; what is malformed,
 * too long or there twice says nothing.
 */
export function readRequestAttempt(fields: FieldList): RequestAttempt | undefined {
  if (!hasField(fields, NAME)) return undefined;
  const [value, ...more] = fieldValues(fields, NAME);
  if (value === undefined || more.length > 0 || value.length > MAX_CHARACTERS) return undefined;
  let members: ReturnType<typeof parseDictionary>;
  try {
    members = parseDictionary(value);
  } catch {
    return undefined;
  }
  if (members.size > MAX_MEMBERS) return undefined;
  const attempt = countOf(members.get('n'), 1);
  if (attempt === undefined) return undefined;
  // Who sends for the second time has retried once, whether or not it says so.
  const lineage = members.has('lineage') ? countOf(members.get('lineage'), 0) : attempt - 1;
  return lineage === undefined ? undefined : { attempt, lineage };
}

/**
 * The fields of an attempt with its history in them. A first attempt of a request that is no retry carries none, unless
 * `canRetry` is to be told.
 * @param attempt 1 for the first
 * @param lineageAbove retries made above this hop
 * @param canRetry whether this hop's policy leaves room for another attempt after this one; `undefined`: it is not told
 */
export function withRequestAttempt(
  fields: FieldList,
  attempt: number,
  lineageAbove: number,
  canRetry?: boolean,
): FieldList {
  const lineage = lineageAbove + attempt - 1;
  if (lineage === 0 && canRetry === undefined) return fields;
  const value = serializeDictionary({
    n: Math.min(attempt, MAX_COUNT),
    lineage: Math.min(lineage, MAX_COUNT),
    ...(canRetry === undefined ? {} : { 'can-retry': canRetry }),
  });
  // Twice would say nothing: what a hook put there gives way.
  return [...removeFields(fields, NAMES), NAME, value];
}

function countOf(member: readonly unknown[] | undefined, lowest: number): number | undefined {
  const value = member?.[0];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < lowest) return undefined;
  return Math.min(value, MAX_COUNT);
}
