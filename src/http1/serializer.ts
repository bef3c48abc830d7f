import { isNamed } from './field-list.ts';
import type { FieldList } from './message.ts';
import { consistsOf, FIELD_VALUE, TARGET, TOKEN } from './octets.ts';

/** How the message we write is delimited and what its Connection field says. */
export interface HeadFraming {
  /**
   * `none`: no body bytes follow. A request gets `Content-Length: 0` if its method usually has a body; a response gets
   * `Content-Length` only from `length` (HEAD and 304: what would have been sent; never on 1xx and 204).
   * `length`: exactly `length` bytes follow. `chunked`: chunks follow, never for an HTTP/1.0 peer.
   * `until-close`: responses only; the connection's end delimits the body and `Connection: close` is written.
   */
  readonly kind: 'none' | 'length' | 'chunked' | 'until-close';
  /** Bytes; needed for `length`, optional for a response with `none`, else ignored. */
  readonly length?: number | undefined;
  /** Written as the only Connection field; `upgrade` goes with an Upgrade field in `fields`. */
  readonly connection?: 'keep-alive' | 'close' | 'upgrade' | undefined;
}

/** A head that must not be written: a programmer's mistake or an attempt to split a message. */
export class UnsafeHeadError extends TypeError {
  readonly code = 'UNSAFE_HEAD';
}

/** Methods whose request without a body still says so (RFC 9110 §8.6): peers answer 411 or wait otherwise. */
const USUALLY_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Text of a request head, to be written as latin1. Content-Length, Transfer-Encoding and Connection come from
 * `framing` alone; fields of these names in `fields` are left out, for a length that was right for another body is how
 * messages get split.
 *
 * @throws UnsafeHeadError when a method, target, name or value cannot be written safely, when there is not exactly one
 * Host field, or when framing is impossible for a request.
 */
export function requestHeadText(method: string, target: string, fields: FieldList, framing: HeadFraming): string {
  if (!consistsOf(method, TOKEN)) throw unsafe('method', method);
  if (!consistsOf(target, TARGET)) throw unsafe('request target', target);
  let hostCount = 0;
  for (let i = 0; i < fields.length; i += 2) {
    if (isNamed(fields[i]!, 'host')) hostCount++;
  }
  if (hostCount !== 1) throw new UnsafeHeadError(`A request needs exactly one Host field; this one has ${hostCount}.`);
  const start = `${method} ${target} HTTP/1.1\r\n${fieldLines(fields)}`;
  if (framing.kind === 'until-close') throw new UnsafeHeadError('A request cannot be delimited by the close.');
  if (framing.kind !== 'none') return `${start}${framingLines(framing)}\r\n`;
  const length = USUALLY_WITH_BODY.has(method) ? 'Content-Length: 0\r\n' : '';
  return `${start}${length}${connectionLine(framing.connection)}\r\n`;
}

/**
 * Text of a response head, to be written as latin1. The same rules as for requests hold.
 *
 * @throws UnsafeHeadError when status, reason, a name or a value cannot be written safely, or a 1xx, 204 or 304 is to
 * have a body.
 */
export function responseHeadText(status: number, reason: string, fields: FieldList, framing: HeadFraming): string {
  if (!Number.isInteger(status) || status < 100 || status > 599) throw unsafe('status', String(status));
  if (reason !== '' && !consistsOf(reason, FIELD_VALUE)) throw unsafe('reason phrase', reason);
  const start = `HTTP/1.1 ${status} ${reason}\r\n${fieldLines(fields)}`;
  const bodyless = status < 200 || status === 204 || status === 304;
  if (framing.kind !== 'none') {
    // A peer would read these bytes as the next response.
    if (bodyless) throw new UnsafeHeadError(`A ${status} response cannot have a body.`);
    return `${start}${framingLines(framing)}\r\n`;
  }
  const declared = framing.length !== undefined && framing.length >= 0 && status >= 200 && status !== 204;
  return `${start}${declared ? lengthLine(framing.length) : ''}${connectionLine(framing.connection)}\r\n`;
}

/** Size line of a chunk of `lengthBytes` > 0; the data and `CHUNK_END` follow. */
export function chunkHead(lengthBytes: number): string {
  // A chunk of size 0 would end the body.
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes <= 0) throw unsafe('chunk length', String(lengthBytes));
  return `${lengthBytes.toString(16)}\r\n`;
}

export const CHUNK_END: string = '\r\n';

/** The last chunk, trailer section included. Framing names among the trailers are left out. @throws UnsafeHeadError */
export function lastChunk(trailers: FieldList = []): string {
  return trailers.length === 0 ? '0\r\n\r\n' : `0\r\n${fieldLines(trailers)}\r\n`;
}

/** The one place where names and values become bytes. Framing names are left out. @throws UnsafeHeadError */
export function fieldLines(fields: FieldList): string {
  let text = '';
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1];
    if (!consistsOf(name, TOKEN)) throw unsafe('field name', name);
    if (isFramingName(name)) continue;
    if (typeof value !== 'string') throw new UnsafeHeadError(`The field ${name} has no value.`);
    if (value !== '' && !consistsOf(value, FIELD_VALUE)) throw unsafe(`value of the field ${name}`, value);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

function isFramingName(name: string): boolean {
  switch (name.length) {
    case 10:
      return isNamed(name, 'connection');
    case 14:
      return isNamed(name, 'content-length');
    case 17:
      return isNamed(name, 'transfer-encoding');
    default:
      return false;
  }
}

function framingLines(framing: HeadFraming): string {
  switch (framing.kind) {
    case 'length':
      return lengthLine(framing.length) + connectionLine(framing.connection);
    case 'chunked':
      return `Transfer-Encoding: chunked\r\n${connectionLine(framing.connection)}`;
    case 'until-close':
      return connectionLine('close');
    case 'none':
      return connectionLine(framing.connection);
  }
}

function lengthLine(length: number | undefined): string {
  if (length === undefined || !Number.isSafeInteger(length) || length < 0)
    throw unsafe('content length', String(length));
  return `Content-Length: ${length}\r\n`;
}

function connectionLine(connection: HeadFraming['connection']): string {
  return connection === undefined ? '' : `Connection: ${connection}\r\n`;
}

function unsafe(what: string, text: string): UnsafeHeadError {
  const shown = JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
  return new UnsafeHeadError(`The ${what} ${shown} holds a character that cannot be sent, or is empty.`);
}
