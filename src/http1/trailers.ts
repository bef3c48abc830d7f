import type { FieldList } from './message.ts';

/**
 * Fields that act on framing, routing, trust or the reading of the content (RFC 9110 §6.5.1). After the body it is too
 * late for them, and a hop that merges trailers into the head would be steered by them.
 */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'max-forwards',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
]);

export function hasForbiddenTrailer(trailers: FieldList): boolean {
  for (let i = 0; i < trailers.length; i += 2) {
    if (FORBIDDEN.has(trailers[i]!.toLowerCase())) return true;
  }
  return false;
}
