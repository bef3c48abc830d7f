import type { Ruling } from './outcome.ts';

/** Names of gRPC's statuses as they are written in a policy; the position is the number (`google.rpc.Code`). */
const NAMES = [
  'ok',
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
] as const;

/** A status that a policy can name: `ok` is none. */
export type GrpcStatus = Exclude<(typeof NAMES)[number], 'ok'>;

export const GRPC_STATUSES: readonly GrpcStatus[] = NAMES.filter((name) => name !== 'ok');

/** The number of a status; −1 for what is none. */
export function grpcStatusNumber(name: string): number {
  return (NAMES as readonly string[]).indexOf(name);
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
