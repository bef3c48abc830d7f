import { z } from 'zod';
import type { HostPort } from './address.ts';
import { isHostName, readAddress } from './address.ts';
import { canonicalPath } from './canonical-path.ts';
import { nearestName } from './nearest-name.ts';
import { isIP } from 'node:net';
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

/** `shop.example` or `*.shop.example` (any name below it, at any depth); compared without case and port. */
export const hostPattern = (description: string): Part<string> =>
  part(description, { type: 'string' }, (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    if (typeof input !== 'string') return bad('must be a host name', 'for example shop.example or *.shop.example');
    if (input === '*') return bad('matches every host', 'leave `hosts` out to match every host');
    if (input.includes('/')) return bad('is a URL, not a host', 'write only the host name');
    const host = input.toLowerCase().replace(/\.$/, '');
    if (/^\[.*\]$/.test(host))
      return isIP(host.slice(1, -1)) === 6
        ? { ok: true, value: host }
        : bad('is not an IPv6 address', "for example '[::1]'");
    if (isIP(host) === 6) return bad('is an IPv6 address without brackets', `write '[${input}]'`);
    if (/:\d*$/.test(host)) return bad('has a port', 'hosts are compared without their port: remove it');
    const bare = host.startsWith('*.') ? host.slice(2) : host;
    if (bare.includes('*'))
      return bad('has a wildcard in the wrong place', 'only a whole first label can be one: *.shop.example');
    if (!isHostName(bare) && isIP(bare) !== 4)
      return bad('is not a host name', 'for example shop.example or *.shop.example');
    return { ok: true, value: host };
  });

export const routePath = (description: string): Part<string> =>
  part(description, { type: 'string', pattern: '^/' }, (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    if (typeof input !== 'string') return bad('must be a path', 'for example /orders');
    if (!input.startsWith('/'))
      return bad('does not begin with /', input.includes('://') ? 'write only the path' : `write /${input}`);
    if (/[?#]/.test(input)) return bad('has a query or fragment', 'routes match on the path alone');
    if (/[*(]/.test(input)) return bad('has a pattern in it', 'paths are literal: a prefix matches what lies below it');
    const canonical = canonicalPath(input);
    if (!canonical.ok)
      return bad(`can never match: ${canonical.reason}`, 'requests are matched on their canonical path');
    if (canonical.path !== input) return bad('can never match: it is not in canonical form', `write ${canonical.path}`);
    return { ok: true, value: input };
  });

export const method = (description: string): Part<string> =>
  part(description, { type: 'string', pattern: '^[A-Z][A-Z-]*$' }, (input) => {
    if (typeof input === 'string' && /^[A-Z][A-Z-]{0,23}$/.test(input)) return { ok: true, value: input };
    const upper = typeof input === 'string' ? input.toUpperCase() : '';
    return {
      ok: false,
      message: 'is not a method',
      hint:
        upper !== input && /^[A-Z][A-Z-]{0,23}$/.test(upper)
          ? `methods are case-sensitive: write ${upper}`
          : 'for example GET or POST',
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
