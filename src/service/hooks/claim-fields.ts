import { withErrorClaim } from '../../engine/error-claim.ts';
import type { ErrorClaim } from '../../core/ownership/error-claim.ts';
import type { FieldList } from '../../http1/message.ts';

export const CLAIM_NAMES: readonly string[] = ['error-claim', 'x-uber-error-claim'];

export function claimFields(claim: ErrorClaim, alias: boolean): FieldList {
  return withErrorClaim([], claim, { alias, identity: false });
}

/**
 * The headers without a claim: an application that passes a callee's headers on would tell its caller what was meant for
 * itself. The very same headers when there is none, as nearly always.
 */
export function withoutClaims<Headers>(headers: Headers): Headers {
  if (Array.isArray(headers)) return withoutClaimsInList(headers as unknown[]) as Headers;
  if (typeof headers !== 'object' || headers === null) return headers;
  const named = Object.keys(headers).filter(isClaimName);
  if (named.length === 0) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !named.includes(name))) as Headers;
}

function withoutClaimsInList(list: unknown[]): unknown[] {
  if (Array.isArray(list[0])) return list.filter((entry) => !(Array.isArray(entry) && isClaimName(entry[0])));
  const indexes = [...list.keys()].filter((index) => index % 2 === 0 && isClaimName(list[index]));
  const dropped = new Set(indexes.flatMap((index) => [index, index + 1]));
  return dropped.size === 0 ? list : list.filter((_, index) => !dropped.has(index));
}

function isClaimName(name: unknown): boolean {
  return (
    typeof name === 'string' && (name.length === 11 || name.length === 18) && CLAIM_NAMES.includes(name.toLowerCase())
  );
}
