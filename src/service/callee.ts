import { operationName } from './operation-name.ts';

/** Who is called, and what for. */
export interface Callee {
  /** Without the port. */
  readonly host: string;
  readonly operation: string;
}

/** Takes apart a URL that a library has already taken apart once: no need to check it again. */
export function calleeOf(method: string, url: string): Callee {
  const scheme = url.indexOf('://');
  const from = scheme === -1 ? 0 : scheme + 3;
  const slash = url.indexOf('/', from);
  const to = slash === -1 ? url.length : slash;
  // A password must not become a name of an operation.
  const authority = url.slice(Math.max(from, url.lastIndexOf('@', to) + 1), to);
  const colon = authority.lastIndexOf(':');
  const host = colon > authority.indexOf(']') ? authority.slice(0, colon) : authority;
  return { host, operation: operationName(method, authority, url.slice(to)) };
}
