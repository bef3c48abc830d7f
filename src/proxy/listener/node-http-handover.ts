import type { IncomingMessage } from 'node:http';
import { fieldValue, fieldValues, hasField, listMembers } from '../../http1/field-list.ts';

/**
 * Whether our own connection takes over from `node:http`, which hands over a socket for good or never: a request that offers
 * another protocol and has no body. HTTP/2 and TLS are not for offer, and clients that always ask for them (Java's) stay
 * where they are.
 */
export function isHandedOver(request: IncomingMessage): boolean {
  const { rawHeaders: fields } = request;
  if (hasField(fields, 'transfer-encoding') || (fieldValue(fields, 'content-length') ?? '0') !== '0') return false;
  const offers = listMembers(fieldValues(fields, 'upgrade').join(','));
  return offers.some((protocol) => !/^(?:h2c$|tls\/|http\/)/i.test(protocol));
}

/** The request again as bytes, with what was read behind it, for whoever takes its socket over. */
export function requestBytes(request: IncomingMessage, rest: Buffer): Buffer {
  const { method = '', url = '', httpVersion, rawHeaders } = request;
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) head += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  return Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), rest]);
}
