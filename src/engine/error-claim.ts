import { serializeItem, Token } from 'structured-headers';
import { CLAIM_REASONS, MAX_HOP_COUNT, RETRY_ADVICES, type ErrorClaim } from '../core/ownership/error-claim.ts';
import { fieldValues, hasField, removeFields } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';
import { readItem, textOf, type ItemFault } from './structured-item.ts';

/** What a response's fields claim about its error. */
export interface ClaimReading {
  readonly claim: ErrorClaim | undefined;
  /** Why a claim that is there was not believed. */
  readonly fault: ItemFault | undefined;
}

export interface ClaimFieldOptions {
  /** Also write the older field that some meshes read, which says only whose error it is. */
  readonly alias: boolean;
  /** Also say where: `domain` and `source`. Not to be told beyond the edge. */
  readonly identity: boolean;
}

const NAME = 'Error-Claim';
const ALIAS = 'x-uber-error-claim';
const NAMES: ReadonlySet<string> = new Set([NAME.toLowerCase(), ALIAS]);

/** Reads like an identifier; keeps line breaks and quotes out of every field and log. */
const IDENTIFIER = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/;

const NOTHING: ClaimReading = { claim: undefined, fault: undefined };

/**
 * Reads `Error-Claim: relayed;why=timeout;hops=2`, an RFC 9651 item, or its alias when there is no readable one. What a
 * parameter says beyond the words that are known here is left out of the claim, for a newer peer may know more of them.
 */
export function readErrorClaim(fields: FieldList): ClaimReading {
  const reading = readItem(fields, NAME);
  if (reading.type !== 'item') {
    const fault = reading.type === 'fault' ? reading.fault : undefined;
    const aliased = readAlias(fields);
    return fault === undefined ? aliased : { claim: aliased.claim, fault };
  }
  const [value, parameters] = reading.item;
  const word = textOf(value);
  if (word !== 'owned' && word !== 'relayed') return { claim: readAlias(fields).claim, fault: 'unknown-value' };
  const parameter = (name: string): string | undefined => textOf(parameters.get(name));
  const claim: ErrorClaim = {
    claim: word,
    why: oneOf(CLAIM_REASONS, parameter('why')),
    retry: oneOf(RETRY_ADVICES, parameter('retry')),
    kept: parameters.get('kept') === true,
    effect: parameter('effect') === 'maybe' ? 'maybe' : undefined,
    hops: hopsOf(parameters.get('hops')),
    domain: identifierOf(parameter('domain')),
    source: identifierOf(parameter('source')),
  };
  return { claim, fault: undefined };
}

/** The fields of a response with this claim in them, in place of any other: a claim is for the next caller alone. */
export function withErrorClaim(fields: FieldList, claim: ErrorClaim, options: ClaimFieldOptions): FieldList {
  const written = [...withoutErrorClaim(fields), NAME, claimText(claim, options.identity)];
  if (options.alias) written.push(ALIAS, claim.claim === 'owned' ? 'CLAIMED' : 'UNCLAIMED');
  return written;
}

/** Whether a claim is there, believed or not. */
export function hasErrorClaim(fields: FieldList): boolean {
  return hasField(fields, NAME) || hasField(fields, ALIAS);
}

export function withoutErrorClaim(fields: FieldList): FieldList {
  return removeFields(fields, NAMES);
}

function claimText({ claim, why, retry, kept, effect, hops, domain, source }: ErrorClaim, identity: boolean): string {
  const parameters = new Map<string, Token | string | number | boolean>();
  const add = (name: string, value: Token | string | number | boolean | undefined): void => {
    if (value !== undefined) parameters.set(name, value);
  };
  add('why', tokenOf(why));
  add('retry', tokenOf(retry));
  add('hops', hopsOf(hops));
  if (kept) add('kept', true);
  add('effect', tokenOf(effect));
  if (identity) {
    add('domain', identifierOf(domain));
    add('source', identifierOf(source));
  }
  return serializeItem(new Token(claim), parameters);
}

function readAlias(fields: FieldList): ClaimReading {
  const [value, ...more] = fieldValues(fields, ALIAS);
  if (value === undefined) return NOTHING;
  if (more.length > 0) return { claim: undefined, fault: 'repeated' };
  if (value !== 'CLAIMED' && value !== 'UNCLAIMED') return { claim: undefined, fault: 'unknown-value' };
  const claim = value === 'CLAIMED' ? 'owned' : 'relayed';
  return {
    claim: { claim, why: undefined, retry: undefined, kept: false, effect: undefined, hops: undefined },
    fault: undefined,
  };
}

function tokenOf(word: string | undefined): Token | undefined {
  return word === undefined ? undefined : new Token(word);
}

function oneOf<T extends string>(words: readonly T[], word: string | undefined): T | undefined {
  return words.find((known) => known === word);
}

function hopsOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined;
  return Math.min(value, MAX_HOP_COUNT);
}

function identifierOf(text: string | undefined): string | undefined {
  return text !== undefined && IDENTIFIER.test(text) ? text : undefined;
}
