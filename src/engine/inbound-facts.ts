import { readRequestAttempt } from './request-attempt.ts';
import { readRequestTimeout } from './request-timeout.ts';
import { fieldValues } from '../http1/field-list.ts';
import { FieldNameSet } from '../http1/field-name-set.ts';
import type { FieldList } from '../http1/message.ts';

/** What an inbound request's fields say of its history and of who waits for it. */
export interface InboundFacts {
  /** Retries made above, 0–16. */
  readonly lineage: number;
  /** Milliseconds that its caller still waits; `undefined` when it does not say so. */
  readonly timeoutMs: number | undefined;
  readonly keyed: boolean;
}

/** A day: who waits longer than that waits for no answer. */
const MAX_TIMEOUT_MS = 86_400_000;

const GRPC_UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

const PLAIN: InboundFacts = { lineage: 0, timeoutMs: undefined, keyed: false };

/**
 * Reads them. All of them can only take time and retries away from the request that carries them, so they are believed
 * whoever sent it; of several timeouts the shortest holds.
 */
export function readInboundFacts(fields: FieldList): InboundFacts {
  // Nearly every request has none of them.
  if (!mayHaveFacts(fields)) return PLAIN;
  const timeouts = [
    readRequestTimeout(fields, MAX_TIMEOUT_MS).timeoutMs,
    grpcTimeoutMs(single(fields, 'grpc-timeout')),
    plainMs(single(fields, 'x-envoy-expected-rq-timeout-ms')),
  ].filter((timeoutMs) => timeoutMs !== undefined);
  return {
    lineage: readRequestAttempt(fields)?.lineage ?? 0,
    timeoutMs: timeouts.length === 0 ? undefined : Math.min(...timeouts, MAX_TIMEOUT_MS),
    keyed: fieldValues(fields, 'idempotency-key').length > 0,
  };
}

const NAMES = new FieldNameSet([
  'request-timeout',
  'request-attempt',
  'idempotency-key',
  'grpc-timeout',
  'x-envoy-expected-rq-timeout-ms',
]);

function mayHaveFacts(fields: FieldList): boolean {
  for (let i = 0; i < fields.length; i += 2) if (NAMES.has(fields[i]!)) return true;
  return false;
}

/** What is there twice was written by two, and says nothing. */
function single(fields: FieldList, name: string): string | undefined {
  const [value, ...more] = fieldValues(fields, name);
  return more.length === 0 ? value : undefined;
}

/** gRPC over HTTP/2: at most eight digits and a unit. */
function grpcTimeoutMs(value: string | undefined): number | undefined {
  const match = value === undefined || value.length > 9 ? null : /^(\d{1,8})([HMSmun])$/.exec(value);
  return match === null ? undefined : Number(match[1]) * GRPC_UNIT_MS[match[2]!]!;
}

function plainMs(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}
