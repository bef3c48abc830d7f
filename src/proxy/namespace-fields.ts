import { FieldNameSet } from '../http1/field-name-set.ts';
import type { FieldList } from '../http1/message.ts';

/** What hops say about a request on its way down. It can only take attempts and time away. */
const REQUEST_NAMES = ['request-attempt', 'request-timeout'];
/** What hops say about an error on its way back: no request has a use for it. */
const RESPONSE_NAMES = ['error-claim', 'x-uber-error-claim'];

const REQUEST_FIELDS = new FieldNameSet(REQUEST_NAMES);
const RESPONSE_FIELDS = new FieldNameSet(RESPONSE_NAMES);
const ALL = new FieldNameSet([...REQUEST_NAMES, ...RESPONSE_NAMES]);
/** Almost every field is none of these by its length alone. */
const LENGTHS: ReadonlySet<number> = new Set([...REQUEST_NAMES, ...RESPONSE_NAMES].map(({ length }) => length));

/**
 * The fields of a request without what nobody may say by the names under which hops talk to each other: names that only
 * look alike to a CGI-like server (`Request_Attempt`), fields there twice (nobody knows which one counts), those that
 * belong into an answer, and all of them when the peer is not trusted. The list itself when there is nothing to take away.
 */
export function withoutForgedFields(fields: FieldList, isTrusted: boolean): FieldList {
  let kept: FieldList | undefined;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    if (LENGTHS.has(name.length) && isForged(name, fields, isTrusted)) kept ??= fields.slice(0, i);
    else kept?.push(name, fields[i + 1]!);
  }
  return kept ?? fields;
}

/** Whether a field is a claim, or would be taken for one by a CGI-like reader. A claim is for the next caller alone: each hop makes its own. */
export function isClaimField(name: string): boolean {
  if (!LENGTHS.has(name.length)) return false;
  return RESPONSE_FIELDS.has(name) || (name.includes('_') && RESPONSE_FIELDS.has(name.replaceAll('_', '-')));
}

/** Trailers of a response as its client gets them. */
export function withoutClaims(trailers: FieldList): FieldList {
  const kept: FieldList = [];
  for (let i = 0; i < trailers.length; i += 2)
    if (!isClaimField(trailers[i]!)) kept.push(trailers[i]!, trailers[i + 1]!);
  return kept.length === trailers.length ? trailers : kept;
}

function isForged(name: string, fields: FieldList, isTrusted: boolean): boolean {
  if (name.includes('_')) return ALL.has(name.replaceAll('_', '-'));
  if (REQUEST_FIELDS.has(name)) return !isTrusted || isRepeated(name.toLowerCase(), fields);
  return RESPONSE_FIELDS.has(name);
}

function isRepeated(lowerName: string, fields: FieldList): boolean {
  let count = 0;
  for (let i = 0; i < fields.length; i += 2) if (fields[i]!.toLowerCase() === lowerName) count += 1;
  return count > 1;
}
