import { readRequestTimeout, withRequestTimeout } from '../engine/request-timeout.ts';
import { withRequestAttempt } from '../engine/request-attempt.ts';
import type { FieldList } from '../http1/message.ts';
import type { ServiceCall } from './service-call.ts';

const NOTHING: FieldList = [];

/**
 * What a call passes on of the request that it is made for: the time that is left, less the margin for the way back, and
 * the retries made so far.
 * @param own a `Request-Timeout` that the application wrote itself; the shorter one holds
 */
export function outboundFields(call: ServiceCall, own: string | undefined, nowMs: number): FieldList {
  const { deadlineAtMs, marginMs, lineage, repeatCount, mode } = call;
  if (mode === 'off' || (deadlineAtMs === Infinity && lineage + repeatCount === 0)) return NOTHING;
  let fields: FieldList = [];
  if (deadlineAtMs < Infinity) {
    const ownMs = own === undefined ? undefined : readRequestTimeout(['request-timeout', own], Infinity).timeoutMs;
    fields = withRequestTimeout(fields, Math.min(deadlineAtMs - nowMs, (ownMs ?? Infinity) + marginMs), marginMs);
  }
  return withRequestAttempt(fields, repeatCount + 1, lineage);
}
