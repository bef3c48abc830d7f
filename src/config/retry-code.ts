import { GRPC_STATUSES } from '../core/grpc-statuses.ts';
import type { GrpcStatus } from '../core/grpc-statuses.ts';
import { printable } from './fault.ts';
import { nearestName } from './nearest-name.ts';
import { isMapping } from './plain-data.ts';
import type { Reading } from './quantity.ts';

/** An entry of `retry.codes`: a status of HTTP, or statuses of gRPC. */
export type RetryCode = number | { readonly grpc: readonly GrpcStatus[] };

/** Reads 503, or { grpc: [unavailable] }. */
export function readRetryCode(input: unknown): Reading<RetryCode> {
  if (typeof input === 'number') return readStatus(input);
  if (!isMapping(input))
    return refused('is neither a status nor { grpc: [...] }', 'write 503, or grpc: [unavailable, resource-exhausted]');
  const { grpc, ...others } = input;
  const [other] = Object.keys(others);
  if (other !== undefined) return refused(`has ${printable(other, 40)} beside grpc`, 'only grpc: [...] can stand here');
  if (!Array.isArray(grpc) || grpc.length === 0)
    return refused('names no status of gRPC', 'a list: grpc: [unavailable, resource-exhausted]');
  const statuses: GrpcStatus[] = [];
  for (const name of grpc as unknown[]) {
    const status = GRPC_STATUSES.find((known) => known === name);
    if (status === undefined) return unknownStatus(name);
    if (statuses.includes(status)) return refused(`names ${status} twice`, 'remove one of the two');
    statuses.push(status);
  }
  return { ok: true, value: { grpc: statuses } };
}

function readStatus(status: number): Reading<number> {
  const description = 'A response status, 400 to 599.';
  if (!Number.isInteger(status)) return refused(`must be a whole number, not ${status}`, description);
  if (status < 400) return refused('must be at least 400', description);
  return status > 599 ? refused('must be at most 599', description) : { ok: true, value: status };
}

function unknownStatus(name: unknown): Reading<never> {
  const text = typeof name === 'string' ? name : JSON.stringify(name);
  const near = nearestName(text.toLowerCase().replaceAll('_', '-'), GRPC_STATUSES);
  return refused(
    `${printable(text, 40)} is not an error status of gRPC`,
    near === undefined ? `known: ${GRPC_STATUSES.join(', ')}` : `did you mean \`${near}\`?`,
  );
}

function refused(message: string, hint: string): Reading<never> {
  return { ok: false, message, hint };
}
