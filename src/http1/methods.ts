/**
 * Methods of the IANA registry and of common use. Others are refused with 501 (RFC 9110 §9.1), as Node's own listener
 * refuses them: the two listeners must not differ, and nothing is known of an unknown method's safety. `PRI` is missing
 * on purpose: it is HTTP/2's preface.
 */
const METHODS: ReadonlySet<string> = new Set([
  'ACL',
  'BIND',
  'CHECKOUT',
  'CONNECT',
  'COPY',
  'DELETE',
  'GET',
  'HEAD',
  'LINK',
  'LOCK',
  'M-SEARCH',
  'MERGE',
  'MKACTIVITY',
  'MKCALENDAR',
  'MKCOL',
  'MOVE',
  'NOTIFY',
  'OPTIONS',
  'PATCH',
  'POST',
  'PROPFIND',
  'PROPPATCH',
  'PURGE',
  'PUT',
  'QUERY',
  'REBIND',
  'REPORT',
  'SEARCH',
  'SOURCE',
  'SUBSCRIBE',
  'TRACE',
  'UNBIND',
  'UNLINK',
  'UNLOCK',
  'UNSUBSCRIBE',
]);

export function isKnownMethod(method: string): boolean {
  return METHODS.has(method);
}
