import type { Ruling } from './outcome.ts';

/** A status of gRPC that a policy can name; OK is none. */
export type GrpcStatus =
  | 'cancelled'
  | 'unknown'
  | 'invalid-argument'
  | 'deadline-exceeded'
  | 'not-found'
  | 'already-exists'
  | 'permission-denied'
  | 'resource-exhausted'
  | 'failed-precondition'
  | 'aborted'
  | 'out-of-range'
  | 'unimplemented'
  | 'internal'
  | 'unavailable'
  | 'data-loss'
  | 'unauthenticated';

/** By number, from 1 on (`google.rpc.Code`). */
export const GRPC_STATUSES: readonly GrpcStatus[] = [
  'cancelled',
  'unknown',
  'invalid-argument',
  'deadline-exceeded',
  'not-found',
  'already-exists',
  'permission-denied',
  'resource-exhausted',
  'failed-precondition',
  'aborted',
  'out-of-range',
  'unimplemented',
  'internal',
  'unavailable',
  'data-loss',
  'unauthenticated',
];

/** The number of a status. */
export function grpcStatusNumber(name: GrpcStatus): number {
  return GRPC_STATUSES.indexOf(name) + 1;
}

/** Reads a `grpc-status` field: 0 to 99, without leading zeros; anything else is no status. */
export function parseGrpcStatus(value: string): number | undefined {
  return /^(?:0|[1-9]\d?)$/.test(value) ? Number(value) : undefined;
}

/**
 * What a status of gRPC in a response head means to a policy that names statuses: an error that it covers, whatever the
 * status of HTTP, which is 200. It proves nothing about processing: the safety class stays that of any other answer.
 */
export function rulingOnGrpcStatus(status: number | undefined, named: ReadonlySet<number>): Ruling | undefined {
  return status !== undefined && named.has(status) ? 'retryable' : undefined;
}
