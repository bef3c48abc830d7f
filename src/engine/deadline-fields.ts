import { MAX_DELAY_MS } from '../core/deadline.ts';
import { fieldValue, hasField, removeFields } from '../http1/field-list.ts';
import { FieldNameSet } from '../http1/field-name-set.ts';
import type { FieldList } from '../http1/message.ts';
import { withRequestTimeout } from './request-timeout.ts';

const GRPC = 'grpc-timeout';
const ENVOY = 'x-envoy-expected-rq-timeout-ms';
const DEADLINES = new FieldNameSet(['request-timeout', GRPC, ENVOY]);
const FOREIGN: ReadonlySet<string> = new Set([GRPC, ENVOY]);

/** gRPC over HTTP/2 allows eight digits. */
const MAX_GRPC_DIGITS = 8;

/**
 * The fields of an attempt with the time that is left for it, in every vocabulary that the request came with: what it
 * said when it arrived is no longer true, and a callee that believed it would work on for a caller that is gone.
 * @param remainingMs until nobody waits for this attempt any more; `Infinity` for as long as it takes: nothing is told then
 * @param marginMs kept for the way back of the answer
 * @param isTold the callee speaks our protocol: it is told also where the request says nothing
 */
export function withDeadline(fields: FieldList, remainingMs: number, marginMs: number, isTold: boolean): FieldList {
  const own =
    isTold || hasField(fields, 'request-timeout') ? withRequestTimeout(fields, remainingMs, marginMs) : fields;
  if (!(remainingMs < Infinity)) return own;
  const [grpc, envoy] = [fieldValue(fields, GRPC), fieldValue(fields, ENVOY)];
  if (grpc === undefined && envoy === undefined) return own;
  const leftMs = Math.max(1, Math.floor(Math.min(remainingMs - marginMs, MAX_DELAY_MS)));
  const written = removeFields(own, FOREIGN);
  if (grpc !== undefined) written.push(GRPC, grpcTimeout(leftMs));
  if (envoy !== undefined) written.push(ENVOY, String(leftMs));
  return written;
}

/** Whether a request says in any vocabulary how long its caller waits. */
export function saysDeadline(fields: FieldList): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    if (DEADLINES.has(fields[i]!)) return true;
  }
  return false;
}

function grpcTimeout(leftMs: number): string {
  const milliseconds = String(leftMs);
  return milliseconds.length <= MAX_GRPC_DIGITS ? `${milliseconds}m` : `${Math.floor(leftMs / 1000)}S`;
}
