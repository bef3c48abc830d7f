import { outcomeClassOfResponse, type OutcomeClass } from '../core/classify.ts';
import { outcomeClassOfGrpcStatus } from '../core/ownership/grpc-status.ts';
import type { OutboundEnding } from '../core/ownership/outbound.ts';
import { classifyResponse, isIdempotent, isSafeForAnyMethod } from '../core/safety.ts';
import { readPeerAdvice } from '../engine/retry-advice.ts';
import { fieldValue } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';
import type { ServiceCall } from './service-call.ts';

/** How a call was made, as far as it says what a repeat could do. */
export interface CallManner {
  readonly method: string;
  readonly keyed: boolean;
}

export function successEnding(atMs: number): OutboundEnding {
  return { atMs, outcomeClass: 'ok', claim: undefined, handled: false, effect: undefined };
}

/**
 * The end of a call that was answered with an error, and what the callee claimed about it; both are counted.
 * @param fields the answer's, or its trailers where these hold the status
 */
export function endWithAnswer(
  call: ServiceCall,
  status: number,
  fields: FieldList,
  manner: CallManner,
  peerAddress: string | undefined,
  atMs: number,
): OutboundEnding {
  const { nack } = readPeerAdvice(fields);
  const outcomeClass = classOf(status, fields, nack);
  if (outcomeClass === 'ok') return successEnding(atMs);
  const claim = call.readClaim(fields, peerAddress);
  if (outcomeClass !== 'client') call.note({ claim, retried: false });
  const safe = isSafeForAnyMethod(classifyResponse({ status, nack })) || manner.keyed || isIdempotent(manner.method);
  return {
    atMs,
    outcomeClass,
    claim,
    handled: false,
    effect: safe || outcomeClass === 'client' ? undefined : 'maybe',
  };
}

function classOf(status: number, fields: FieldList, nack: boolean): OutcomeClass {
  const grpcStatus = status === 200 ? fieldValue(fields, 'grpc-status') : undefined;
  return grpcStatus === undefined
    ? outcomeClassOfResponse({ status, nack })
    : outcomeClassOfGrpcStatus(Number(grpcStatus));
}
