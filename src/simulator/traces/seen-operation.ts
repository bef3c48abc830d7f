import type { Span } from './span.ts';

/** An operation by the names that a topology can have. */
export interface SeenOperation {
  readonly service: string;
  readonly name: string;
}

export function operationOf({ service, name }: Span): SeenOperation {
  return { service: plainName(service), name: plainName(name) };
}

/** What a client's span called, when nobody wrote the other side: a database, a cache, somebody else's service. */
export function operationOfPeer({ peer, name, service }: Span): SeenOperation {
  return { service: plainName(peer ?? `called-by-${service}`), name: plainName(name) };
}

/** Path segments that name one of many things: numbers, long hexadecimal numbers, UUIDs. */
const ID_SEGMENT = /(?<=\/)(?:\d+|[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{27})(?=[/?#\s]|$)/gi;

/** `GET /users/{id}` as `GET-users-id`; `/users/17` and `/users/18` are one. */
export function plainName(text: string): string {
  const plain = text
    .replace(/\?.*$/, '')
    .replaceAll(ID_SEGMENT, 'id')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  return plain === '' ? 'unnamed' : plain;
}
