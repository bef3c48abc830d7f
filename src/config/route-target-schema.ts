import { isIP } from 'node:net';
import { z } from 'zod';
import { isHostName } from './address.ts';
import { defaults } from './defaults.ts';
import type { FileRewrite, FileTarget } from './gateway-file.ts';
import { routePath } from './match-parts.ts';
import type { Reading } from './quantity.ts';
import type { Part } from './schema-parts.ts';
import { count, note, part } from './schema-parts.ts';

const target = z.strictObject({
  upstream: part('The name of an upstream.', { type: 'string' }, (input) =>
    typeof input === 'string' && input !== ''
      ? { ok: true, value: input }
      : { ok: false, message: 'must be the name of an upstream', hint: 'for example upstream: orders' },
  ),
  weight: count('Share of the requests relative to the other targets; 0 gets none.', 0, 1_000_000).prefault(
    defaults.target.weight,
  ),
});

/** One name, or a list of weighted targets; a name is a list of one. */
export const targets: z.ZodType<FileTarget[]> = note(
  z.preprocess((input) => (typeof input === 'string' ? [{ upstream: input }] : input), z.array(target).min(1).max(100)),
  'The upstream that serves it, by name; or several, each with a weight. Shares are exact over every round of weights. A retry stays with the upstream of its request, unless that has lost its last endpoint.',
  'the name of an upstream, or a list: [{ upstream: orders, weight: 9 }, { upstream: canary, weight: 1 }]',
);

const rewriteHost = part<string>(
  '`upstream`: the name of the endpoint that was picked, anew for each attempt. Anything else is the host itself. Left out: the host that the client asked for.',
  { type: 'string' },
  (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    const hint = 'write upstream, or a host such as orders.internal or orders.internal:8080';
    if (typeof input !== 'string') return bad('must be a host', hint);
    if (input.includes('/')) return bad('is a URL, not a host', hint);
    const host = input.toLowerCase();
    const match = /^(?:\[([^\]]*)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(host);
    const six = match?.[1];
    const name = match?.[2];
    const valid = six === undefined ? name !== undefined && (isIP(name) === 4 || isHostName(name)) : isIP(six) === 6;
    if (!valid || Number(match?.[3] ?? 1) > 65_535) return bad('is not a host', hint);
    return { ok: true, value: host };
  },
);

export const rewrite: z.ZodType<FileRewrite> = z.strictObject({
  host: rewriteHost.optional(),
  prefix: routePath(
    'What takes the place of the matched `match.path.prefix`, in whole segments: with prefix /shop and this /, /shop/1 becomes /1 and /shop becomes /.',
  ).optional(),
});

/** A field value that must be there, whole. Values of a field that comes several times are joined with a comma and a space first. */
export const fieldMatch: Part<string> = part(
  'The exact value of the field, or { exact: value }.',
  { type: ['string', 'object'] },
  (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
      const keys = Object.keys(input);
      if (keys.includes('regex'))
        return bad('regular expressions are not supported', 'one can take for ever to match: write the exact value');
      const { exact } = input as { exact?: unknown };
      if (keys.length !== 1 || exact === undefined) return bad('is not a match', 'write { exact: value }');
      return fieldValueOf(exact);
    }
    return fieldValueOf(input);
  },
);

function fieldValueOf(input: unknown): Reading<string> {
  if (typeof input === 'number' || typeof input === 'boolean')
    return { ok: false, message: 'must be text', hint: `put it in quotes: '${String(input)}'` };
  if (typeof input !== 'string') return { ok: false, message: 'must be text', hint: 'for example { x-tier: gold }' };
  if (input.length > 1024) return { ok: false, message: 'is too long', hint: 'at most 1024 characters' };
  if (!/^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(input))
    return {
      ok: false,
      message: input === '' ? 'is empty' : 'can never match: a field value is printable ASCII without spaces around it',
      hint: 'give the value as it stands in the request',
    };
  return { ok: true, value: input };
}
