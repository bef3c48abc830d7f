import { parseGrpcStatus, rulingOnGrpcStatus } from '../core/grpc-statuses.ts';
import type { ResponseFacts, Ruling } from '../core/outcome.ts';
import { parseRetryAfter, parseRetryPushback } from '../core/retry-after.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import { fieldValue, fieldValues } from '../http1/field-list.ts';

/** What the decision needs of a response head. Successes carry nothing and cost nothing. */
export function readResponseFacts(
  head: ResponseHead,
  { codes, grpcStatuses }: Pick<RetryPolicy, 'codes' | 'grpcStatuses'>,
  wallMs: number,
  said?: Ruling,
): ResponseFacts {
  const { status, fields } = head;
  const grpcStatus = grpcStatuses === undefined ? undefined : readGrpcStatus(fields);
  const ruling = said ?? (grpcStatuses === undefined ? undefined : rulingOnGrpcStatus(grpcStatus, grpcStatuses));
  if (status < 400 && !codes.has(status) && ruling !== 'retryable')
    return ruling === undefined ? { status } : { status, ruling };
  const pushback = fieldValue(fields, 'grpc-retry-pushback-ms');
  const pushbackMs = pushback === undefined ? undefined : parseRetryPushback(pushback);
  return {
    status,
    retryAfterMs: typeof pushbackMs === 'number' ? pushbackMs : readRetryAfter(fields, wallMs),
    advisedNever: pushbackMs === 'never',
    ruling,
    ...(grpcStatus === undefined ? {} : { grpcStatus }),
  };
}

/** Two different ones say nothing. */
function readGrpcStatus(fields: FieldList): number | undefined {
  const [value, ...more] = new Set(fieldValues(fields, 'grpc-status'));
  return value === undefined || more.length > 0 ? undefined : parseGrpcStatus(value);
}

function readRetryAfter(fields: FieldList, wallMs: number): number | undefined {
  let longestMs: number | undefined;
  // It may be there once (RFC 9110 §10.2.3). Where it is not, nobody comes back sooner than the longest wait that is asked for.
  for (const value of fieldValues(fields, 'retry-after')) {
    const ms = parseRetryAfter(value, fieldValue(fields, 'date'), wallMs);
    if (ms !== undefined && ms > (longestMs ?? -1)) longestMs = ms;
  }
  return longestMs;
}
