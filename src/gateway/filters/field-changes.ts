import type { FieldChanges } from '../../config/route-filters.ts';
import type { FieldList } from '../../http1/message.ts';

/** Fields whose values must not be joined with a comma (RFC 9110 §5.3). */
const neverJoined: ReadonlySet<string> = new Set(['set-cookie', 'cookie']);

/** A new list with the changes of a header modifier: removed, set, then added. */
export function changedFields(fields: Readonly<FieldList>, { set, add, remove }: FieldChanges): FieldList {
  const gone = new Set([...remove, ...set.map(({ name }) => name.toLowerCase())]);
  const out: FieldList = [];
  for (let i = 0; i < fields.length; i += 2)
    if (!gone.has(fields[i]!.toLowerCase())) out.push(fields[i]!, fields[i + 1]!);
  for (const { name, value } of set) out.push(name, value);
  for (const { name, value } of add) addField(out, name, value);
  return out;
}

/** Joins the last field of the name, as one list; where that is not allowed it becomes a field of its own. */
function addField(fields: FieldList, name: string, value: string): void {
  const lower = name.toLowerCase();
  if (!neverJoined.has(lower)) {
    for (let i = fields.length - 2; i >= 0; i -= 2) {
      if (fields[i]!.toLowerCase() !== lower) continue;
      fields[i + 1] = fields[i + 1] === '' ? value : `${fields[i + 1]},${value}`;
      return;
    }
  }
  fields.push(name, value);
}
