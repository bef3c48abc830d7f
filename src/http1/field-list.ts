import type { FieldList } from './message.ts';

/** Value of the first field called `name` (any case), or `undefined`. */
export function fieldValue(fields: Readonly<FieldList>, name: string): string | undefined {
  const lower = name.toLowerCase();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (isNamed(fields[i]!, lower)) return fields[i + 1];
  }
  return undefined;
}

/** Values of all fields called `name` (any case), in order. */
export function fieldValues(fields: Readonly<FieldList>, name: string): string[] {
  const lower = name.toLowerCase();
  const values: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (isNamed(fields[i]!, lower)) values.push(fields[i + 1]!);
  }
  return values;
}

/** Whether there is a field called `name` (any case). */
export function hasField(fields: Readonly<FieldList>, name: string): boolean {
  return fieldValue(fields, name) !== undefined;
}

/** A new list without the fields whose lower-case names are in `lowerCaseNames`. */
export function removeFields(fields: Readonly<FieldList>, lowerCaseNames: ReadonlySet<string>): FieldList {
  const kept: FieldList = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (!lowerCaseNames.has(fields[i]!.toLowerCase())) kept.push(fields[i]!, fields[i + 1]!);
  }
  return kept;
}

/**
 * Members of a comma-separated list (RFC 9110 §5.6.1), without surrounding white space, empty ones skipped. Meant for
 * lists of tokens: it does not know quoted strings.
 */
export function listMembers(value: string): string[] {
  const members: string[] = [];
  let from = 0;
  while (from <= value.length) {
    const comma = value.indexOf(',', from);
    const to = comma === -1 ? value.length : comma;
    const member = trimWhiteSpace(value, from, to);
    if (member !== '') members.push(member);
    from = to + 1;
  }
  return members;
}

/** Lower-case names that the Connection fields nominate: options and hop-by-hop fields alike (RFC 9110 §7.6.1). */
export function connectionNominated(fields: FieldList): ReadonlySet<string> {
  let nominated: Set<string> | undefined;
  let simply = NONE;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (!isNamed(fields[i]!, 'connection')) continue;
    const value = fields[i + 1]!;
    if (value === 'keep-alive' && nominated === undefined) {
      simply = KEEP_ALIVE;
      continue;
    }
    nominated ??= new Set(simply);
    for (const member of listMembers(value)) nominated.add(member.toLowerCase());
  }
  return nominated ?? simply;
}

/** Most requests have no Connection field, and most responses this one: neither costs a set of its own. */
const NONE: ReadonlySet<string> = new Set();
const KEEP_ALIVE: ReadonlySet<string> = new Set(['keep-alive']);

/** Whether a field's name is `lower`, which is lower-case. Most names differ in length or in their first letter. */
export function isNamed(name: string, lower: string): boolean {
  if (name.length !== lower.length || (name.charCodeAt(0) | 0x20) !== (lower.charCodeAt(0) | 0x20)) return false;
  return name === lower || name.toLowerCase() === lower;
}

/** Only SP and HTAB are white space on the wire; String.prototype.trim takes NBSP and more, which peers do not. */
function trimWhiteSpace(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start++;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isWhiteSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
