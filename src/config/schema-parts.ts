import { z } from 'zod';
import type { HostPort } from './address.ts';
import { readAddress } from './address.ts';
import { nearestName } from './nearest-name.ts';
import type { Reading } from './quantity.ts';
import { readDuration, readSize } from './quantity.ts';

/** A value with a text form of its own: read by a function that says what is wrong and what to do. */
export type Part<Value> = z.ZodPipe<z.ZodUnknown, z.ZodTransform<Value>>;

interface JsonForm {
  readonly type: string | readonly string[];
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
}

export function part<Value>(
  description: string,
  form: JsonForm,
  readValue: (input: unknown) => Reading<Value>,
): Part<Value> {
  return z
    .unknown()
    .transform((input, context) => {
      const reading = readValue(input);
      if (reading.ok) return reading.value;
      context.addIssue({ code: 'custom', message: reading.message, params: { hint: reading.hint } });
      return z.NEVER;
    })
    .meta({ description, ...form });
}

const durationForm: JsonForm = { type: 'string', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$' };

export const duration = (description: string): Part<number> => part(description, durationForm, readDuration);

/** A duration that cannot be 0: where "off" would mean "wait for ever" or "at once". */
export const positiveDuration = (description: string): Part<number> =>
  part(description, durationForm, (input) => {
    const reading = readDuration(input);
    return reading.ok && reading.value === 0
      ? { ok: false, message: 'cannot be switched off', hint: 'give it at least 1ms' }
      : reading;
  });

/** The window of a retry budget: 1 s to 1 h, as in the Gateway API. */
export const window = (description: string): Part<number> =>
  part(description, durationForm, (input) => {
    const reading = readDuration(input);
    if (!reading.ok || (reading.value >= 1000 && reading.value <= 3_600_000)) return reading;
    return { ok: false, message: reading.value < 1000 ? 'is too short' : 'is too long', hint: 'from 1s to 1h' };
  });

export const size = (description: string, minBytes: number, maxBytes: number): Part<number> =>
  part(description, { type: 'string', pattern: '^\\d+(B|KiB|MiB|GiB)$' }, (input) => {
    const reading = readSize(input);
    if (!reading.ok) return reading;
    if (reading.value < minBytes)
      return { ok: false, message: 'is too small', hint: `at least ${formatSize(minBytes)}` };
    if (reading.value > maxBytes)
      return { ok: false, message: 'is too large', hint: `at most ${formatSize(maxBytes)}` };
    return reading;
  });

function formatSize(bytes: number): string {
  for (const [unit, value] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const) {
    if (bytes >= value && bytes % value === 0) return `${bytes / value}${unit}`;
  }
  return `${bytes}B`;
}

export const address = (description: string, use: 'listener' | 'endpoint'): Part<HostPort> =>
  part(description, { type: 'string', pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[^:\\[\\]]+):\\d{1,5}$' }, (input) =>
    readAddress(input, use),
  );

/** Names end up in records, metrics and file paths of dumps: plain characters only. */
export const namePattern: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const name = (description: string): Part<string> =>
  part(description, { type: 'string', pattern: namePattern.source }, (input) => {
    if (typeof input === 'string' && namePattern.test(input)) return { ok: true, value: input };
    const isText = typeof input === 'string';
    return {
      ok: false,
      message: isText ? 'is not a name' : 'must be a name (text)',
      hint: 'letters, digits, `.`, `_` and `-`, at most 63, beginning with a letter or digit',
    };
  });

/** @param what What the variable holds, in messages. */
export const environmentName = (example: string, what: string): Part<string> =>
  part('An environment variable that holds it.', { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }, (input) => {
    if (typeof input === 'string' && /^[A-Za-z_]\w{0,127}$/.test(input)) return { ok: true, value: input };
    return {
      ok: false,
      message: 'is not the name of an environment variable',
      hint: `for example ${example}; the ${what} itself never stands in this file`,
    };
  });

/** A setting that the contract names and this version does not have: refused wherever it stands, never ignored. */
export const notYet = (what: string): z.ZodOptional<Part<undefined>> =>
  part<undefined>(`Not supported yet: ${what}.`, { type: 'null' }, () => ({
    ok: false,
    message: 'is not supported yet',
    hint: `${what}: remove it`,
  })).optional();

/** One of several words; the ones that are planned but not built are refused in their own words. */
export const choice = <const Word extends string>(
  description: string,
  words: readonly Word[],
  planned: readonly string[] = [],
): Part<Word> =>
  part<Word>(description, { type: 'string', enum: words }, (input) => {
    const word = words.find((candidate) => candidate === input);
    if (word !== undefined) return { ok: true, value: word };
    const list = words.map((candidate) => (/^\d+$/.test(candidate) ? `'${candidate}'` : candidate)).join(', ');
    const plan = planned.find((candidate) =>
      typeof input === 'string'
        ? input.split(/[\s{]/)[0] === candidate
        : typeof input === 'object' && input !== null && Object.hasOwn(input, candidate),
    );
    if (plan !== undefined) return { ok: false, message: `\`${plan}\` is not supported yet`, hint: `use ${list}` };
    if (typeof input === 'number' && words.some((candidate) => candidate === String(input)))
      return { ok: false, message: `${input} is a number here`, hint: `put it in quotes: '${input}'` };
    return {
      ok: false,
      message: `must be ${words.length === 1 ? list : `one of ${list}`}`,
      hint: typeof input === 'string' ? wordHint(input, words) : '',
    };
  });

function wordHint(input: string, words: readonly string[]): string {
  const near = nearestName(input, words);
  return near === undefined ? '' : `did you mean \`${near}\`?`;
}

/** A whole number from `min` to `max`. */
export const count = (description: string, min: number, max: number): z.ZodInt =>
  z.int().min(min).max(max).meta({ description });

/** Says what a setting is, and what to write when it is wrong. */
export const note = <Type extends z.ZodType>(type: Type, description: string, hint?: string): Type =>
  type.meta(hint === undefined ? { description } : { description, hint });
