import { isTlsCertificateCode } from './tls-error-codes.ts';

/** A chain of causes longer than this is a loop, or comes from a library that wraps without end. */
const maxDepth = 10;

/**
 * The error below what HTTP clients wrap around it: the first one in the chain of causes that carries a code. `fetch failed`
 * alone says nothing; what it was caused by does.
 */
export function codedError(error: unknown): unknown {
  let link = error;
  for (let depth = 0; depth < maxDepth && isObject(link); depth++) {
    if (typeof link['code'] === 'string' && link['code'] !== '') return link;
    link = link['cause'];
  }
  return error;
}

/**
 * The phase that an error proves by itself, whoever reports it: `connect` and `tls` mean that no byte of a request was
 * written on the connection it speaks of. `undefined` proves nothing: a reset may come before the request or after it.
 */
export function provenPhase(error: unknown): 'connect' | 'tls' | undefined {
  const coded = codedError(error);
  if (!isObject(coded)) return undefined;
  const code = String(coded['code']);
  if (CONNECT_CODES.has(code) || coded['syscall'] === 'connect' || RESOLVER_CALLS.has(coded['syscall'])) {
    // One address of several may have been reached: all of them must have failed before the request.
    const { errors } = coded;
    const isProven = !Array.isArray(errors) || errors.every((one) => provenPhase(one) !== undefined);
    return isProven ? 'connect' : undefined;
  }
  // Checked by our side, before it sends anything. An alert of the peer proves nothing: with TLS 1.3 it may answer a request.
  return isTlsCertificateCode(code) ? 'tls' : undefined;
}

const CONNECT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  // Bun
  'ConnectionRefused',
]);

const RESOLVER_CALLS: ReadonlySet<unknown> = new Set(['getaddrinfo', 'queryA', 'queryAaaa', 'querySrv']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
