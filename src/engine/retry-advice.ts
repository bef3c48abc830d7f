import type { ClaimReason } from '../core/ownership/error-claim.ts';
import { fieldValue, hasField } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';

/** What fields of other systems say about a retry of an error. (`grpc-retry-pushback-ms` is read with Retry-After.) */
export interface PeerAdvice {
  /** Not to be retried by anybody. */
  readonly never: boolean;
  /** The callee says that it did not process the request: any method may be sent again where the policy names rejections. */
  readonly nack: boolean;
  readonly why: ClaimReason | undefined;
}

/**
 * Reads the advice of peers that do not speak our protocol: Envoy's overload and rate limit marks, which it does not retry
 * either; `x-should-retry: false` of some public interfaces; and Finagle's nacks. `x-should-retry: true` says nothing: a
 * callee can take a retry away, never give one.
 */
export function readPeerAdvice(fields: FieldList): PeerAdvice {
  const overloaded = saysTrue(fields, 'x-envoy-overloaded');
  const limited = saysTrue(fields, 'x-envoy-ratelimited');
  const refused = hasField(fields, 'finagle-http-nonretryable-nack');
  const never = overloaded || limited || refused || fieldValue(fields, 'x-should-retry') === 'false';
  const nack = hasField(fields, 'finagle-http-nack');
  return {
    never,
    nack: nack && !never,
    why: limited ? 'quota' : overloaded || refused || nack ? 'overload' : undefined,
  };
}

function saysTrue(fields: FieldList, name: string): boolean {
  return fieldValue(fields, name) === 'true';
}
