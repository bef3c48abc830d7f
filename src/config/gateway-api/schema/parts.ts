import { isIP } from 'node:net';
import { z } from 'zod';
import { isHostName } from '../../address.ts';
import type { Reading } from '../../quantity.ts';
import { maxDurationMs } from '../../quantity.ts';
import type { Part } from '../../schema-parts.ts';
import { part } from '../../schema-parts.ts';

const bad = <Value>(message: string, hint: string): Reading<Value> => ({ ok: false, message, hint });

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** GEP-2257: one to four whole numbers of up to five digits, each with h, m, s or ms; `1m30s`. In milliseconds. */
export function readGatewayDuration(input: unknown): Reading<number> {
  const example = 'for example 500ms, 10s, 1m30s';
  if (typeof input === 'number') return bad(`${input} is not a duration: it has no unit`, example);
  if (typeof input !== 'string') return bad('must be a duration', example);
  if (!/^(?:\d{1,5}(?:h|m|s|ms)){1,4}$/.test(input))
    return bad('is not a duration', `whole numbers of at most 5 digits with h, m, s or ms: ${example}`);
  let sumMs = 0;
  for (const [, count, unit] of input.matchAll(/(\d+)(h|ms|m|s)/g)) sumMs += Number(count) * unitMs[unit!]!;
  return sumMs > maxDurationMs ? bad('is too long', 'at most 596h, about 24 days') : { ok: true, value: sumMs };
}

export const gatewayDuration: Part<number> = part('A duration.', { type: 'string' }, readGatewayDuration);

/** A host name, lower case; `*.example` where a wildcard may stand. IP addresses are none. */
export const hostName = (wildcard: boolean): Part<string> =>
  part('A host name.', { type: 'string' }, (input) => {
    if (typeof input !== 'string') return bad('must be a host name', 'for example shop.example');
    const host = input.toLowerCase();
    const bare = wildcard && host.startsWith('*.') ? host.slice(2) : host;
    if (isIP(host) !== 0 || host.startsWith('['))
      return bad('is an IP address', 'the Gateway API takes host names only');
    if (host === '*') return bad('matches every host', 'leave the field out to match every host');
    if (!isHostName(bare) || bare.endsWith('.') || bare.includes('_'))
      return bad('is not a host name', `for example shop.example${wildcard ? ' or *.shop.example' : ''}`);
    return { ok: true, value: host };
  });

/** The name of an object or of a part of one. */
export const objectName = (what: string): Part<string> =>
  part(what, { type: 'string' }, (input) =>
    typeof input === 'string' && /^[A-Za-z0-9](?:[-A-Za-z0-9._]{0,251}[A-Za-z0-9])?$/.test(input)
      ? { ok: true, value: input }
      : bad(typeof input === 'string' ? 'is not a name' : 'must be a name (text)', 'letters, digits, - and .'),
  );

export const port: z.ZodInt = z.int().min(1).max(65_535).meta({ description: 'A port, 1 to 65535.' });

export const fieldName: Part<string> = part('The name of a header field.', { type: 'string' }, (input) =>
  typeof input === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(input)
    ? { ok: true, value: input }
    : bad('is not a field name', 'for example x-tier'),
);

export const fieldValue: Part<string> = part('The value of a header field.', { type: 'string' }, (input) => {
  if (typeof input === 'number' || typeof input === 'boolean')
    return bad('must be text', `put it in quotes: '${String(input)}'`);
  if (typeof input !== 'string') return bad('must be text', 'for example gold');
  if (input.length > 4096) return bad('is too long', 'at most 4096 characters');
  return /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(input)
    ? { ok: true, value: input }
    : bad(input === '' ? 'is empty' : 'is not a field value', 'printable ASCII without spaces around it');
});

const ignoredMessage = 'is not supported';

/** A field of the Gateway API that has no effect here: told, and left out. */
export const ignoredField = (what: string): z.ZodOptional<Part<undefined>> =>
  part<undefined>(`Not supported yet: ${what}.`, { type: 'null' }, () => bad(ignoredMessage, what)).optional();

export function isIgnoredField(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.message === ignoredMessage;
}

/** A whole resource: what stands beside its `spec` is read elsewhere, or means nothing here. */
export function resourceSchema<Spec>(spec: z.ZodType<Spec>): z.ZodType<{ spec: Spec }> {
  return z.strictObject({
    apiVersion: z.unknown(),
    kind: z.unknown(),
    metadata: z.unknown(),
    status: z.unknown().optional(),
    spec,
  });
}
