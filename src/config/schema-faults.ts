import type { z } from 'zod';
import type { DataFault, DataPath } from './fault.ts';
import { formatPath, printable } from './fault.ts';
import { nearestName, suggest } from './nearest-name.ts';

type Issue = z.core.$ZodIssue;

/** What the schema found, in words for the person who wrote the file. */
export function faultsOfIssues(issues: readonly Issue[], schema: z.ZodType, data: unknown): DataFault[] {
  const faults: DataFault[] = [];
  // A misspelt key makes the right one missing: one fault, not two.
  const meant = new Set<string>();
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const path = issue.path as DataPath;
    const known = knownKeys(schemaAt(schema, path));
    for (const key of issue.keys) {
      const near = nearestName(key, known);
      if (near !== undefined) meant.add(formatPath([...path, near]));
      const hint = key === '<<' ? 'merge keys are not read: write the settings out' : suggest(key, known);
      faults.push({ path: [...path, key], atKey: true, message: 'is not a known setting', hint });
    }
  }
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') continue;
    const path = issue.path as DataPath;
    const place = placeOf(data, path);
    const value = valueAt(data, place);
    if (value === undefined && meant.has(formatPath(path))) continue;
    faults.push({
      path: place,
      atKey: issue.code === 'custom' && issue.message === 'is not supported yet',
      ...wordsOf(issue, isSecret(path) && typeof value === 'string' ? HIDDEN : value, schemaAt(schema, path)),
    });
  }
  return faults;
}

/** Where the fault can be pointed at: an endpoint that is written as text has no `address` key. */
function placeOf(data: unknown, path: DataPath): DataPath {
  for (let length = 1; length < path.length; length += 1) {
    const place = path.slice(0, length);
    if (typeof valueAt(data, place) === 'string') return place;
  }
  return path;
}

/** Somebody may have written a secret where only its place belongs: faults end up in logs. */
function isSecret(path: DataPath): boolean {
  return /token|secret|password/i.test(String(path.at(-1))) || (path[0] === 'tracing' && path[1] === 'headers');
}

const HIDDEN = Symbol('hidden');

function wordsOf(issue: Issue, value: unknown, schema: z.ZodType | undefined): { message: string; hint: string } {
  const example = noteOf(schema, 'hint');
  const description = noteOf(schema, 'description');
  if (value === undefined) return { message: 'is missing', hint: example !== '' ? example : description };
  if (value === null)
    return { message: 'is empty', hint: example !== '' ? example : 'give it a value or remove the key' };
  switch (issue.code) {
    case 'custom':
      return {
        message: issue.message,
        hint: typeof issue.params?.['hint'] === 'string' ? printable(issue.params['hint'], 300) : '',
      };
    case 'invalid_type':
      return {
        message: `must be ${kindName(issue.expected)}, not ${describe(value)}`,
        hint: example !== '' ? example : numberHint(issue.expected, value),
      };
    case 'invalid_value':
      return { message: `must be ${issue.values.map(String).join(' or ')}`, hint: example };
    case 'too_small':
      return issue.origin === 'array' || issue.origin === 'string'
        ? { message: 'is empty', hint: example !== '' ? example : 'give it a value' }
        : { message: `must be at least ${issue.minimum}`, hint: example !== '' ? example : description };
    case 'too_big':
      return issue.origin === 'array' || issue.origin === 'string'
        ? { message: `has more than ${issue.maximum} entries or characters`, hint: example }
        : { message: `must be at most ${issue.maximum}`, hint: example !== '' ? example : description };
    default:
      return { message: printable(issue.message, 200), hint: example };
  }
}

function kindName(expected: string): string {
  if (expected === 'object' || expected === 'record') return 'a mapping';
  if (expected === 'array') return 'a list';
  if (expected === 'int') return 'a whole number';
  if (expected === 'boolean') return 'true or false';
  return expected === 'string' ? 'text' : `a ${expected}`;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === HIDDEN) return 'text';
  if (typeof value === 'string') return `"${printable(value, 40)}"`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'a mapping';
}

function numberHint(expected: string, value: unknown): string {
  if ((expected === 'int' || expected === 'number') && typeof value === 'string' && /^\d+$/.test(value))
    return 'remove the quotes';
  if (expected === 'boolean' && typeof value === 'string' && /^(yes|no|on|off)$/i.test(value))
    return 'YAML 1.2 knows true and false only';
  if (expected === 'string' && typeof value === 'number') return 'put it in quotes';
  return '';
}

export function valueAt(data: unknown, path: DataPath): unknown {
  let value = data;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** The schema of what stands at a path. */
function schemaAt(schema: z.ZodType, path: DataPath): z.ZodType | undefined {
  let at: z.ZodType | undefined = schema;
  for (const part of path) {
    const def = bare(at)?.def as
      | { type: string; shape?: Record<string, z.ZodType>; element?: z.ZodType; valueType?: z.ZodType }
      | undefined;
    if (def?.type === 'object')
      at = def.shape !== undefined && Object.hasOwn(def.shape, part) ? def.shape[part] : undefined;
    else if (def?.type === 'array') at = def.element;
    else if (def?.type === 'record') at = def.valueType;
    else return undefined;
  }
  return at;
}

/** A note on the schema or, when it is wrapped, on what it wraps. */
function noteOf(schema: z.ZodType | undefined, field: 'hint' | 'description'): string {
  for (let at = schema; at !== undefined; at = (at.def as { innerType?: z.ZodType }).innerType) {
    const text = at.meta()?.[field];
    if (typeof text === 'string') return text;
  }
  return '';
}

/** Without the wrappers that only add a default, make it optional or read a short form. */
function bare(schema: z.ZodType | undefined): z.ZodType | undefined {
  let at = schema;
  for (;;) {
    const def = at?.def as { type: string; innerType?: z.ZodType; in?: z.ZodType; out?: z.ZodType } | undefined;
    if (def?.innerType !== undefined) at = def.innerType;
    else if (def?.type === 'pipe' && (def.in?.def as { type: string } | undefined)?.type === 'transform') at = def.out;
    else return at;
  }
}

function knownKeys(schema: z.ZodType | undefined): string[] {
  const def = bare(schema)?.def as { type: string; shape?: Record<string, z.ZodType> } | undefined;
  if (def?.shape === undefined) return [];
  return Object.entries(def.shape)
    .filter(([, value]) => !noteOf(value, 'description').startsWith('Not supported yet'))
    .map(([key]) => key);
}
