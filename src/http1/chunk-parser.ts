import { CR, FIELD_VALUE, LF, OCTETS, TOKEN } from './octets.ts';
import type { ParseFaultCode } from './parse-fault.ts';

const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Reads chunk-size lines (RFC 9112 §7.1). No white space is allowed anywhere outside quotes: the grammar's "bad white
 * space" is where parsers disagree about a chunk's size.
 */
export class ChunkLineParser {
  /** Size of the chunk in bytes; 0 is the last chunk. */
  size = 0;
  fault: ParseFaultCode | undefined = undefined;

  /** Reads one line of `bytes` at `from`; returns the position after it, or `from` when its end is not there yet. */
  parse(bytes: Buffer, from: number, end: number): number {
    const lineFeed = bytes.indexOf(LF, from);
    if (lineFeed === -1 || lineFeed >= end) return from;
    let at = from;
    let size = 0;
    for (let digit = hexDigit(bytes[at]!); digit !== -1; digit = hexDigit(bytes[at]!)) {
      size = size * 16 + digit;
      if (size > Number.MAX_SAFE_INTEGER) return this.#refuse('BAD_CHUNK_SIZE', from);
      at++;
    }
    if (at === from) return this.#refuse('BAD_CHUNK_SIZE', from);
    if (bytes[at] !== CR && bytes[at] !== LF && bytes[at] !== SEMICOLON) return this.#refuse('BAD_CHUNK_SIZE', from);
    while (bytes[at] === SEMICOLON) {
      at = extensionEnd(bytes, at + 1);
      if (at === -1) return this.#refuse('BAD_CHUNK_EXTENSION', from);
    }
    if (bytes[at] === CR && at + 1 === lineFeed) {
      this.size = size;
      return lineFeed + 1;
    }
    if (at === lineFeed) return this.#refuse('BARE_LF', from);
    return this.#refuse(bytes[at] === CR ? 'BARE_CR' : 'BAD_CHUNK_EXTENSION', from);
  }

  #refuse(code: ParseFaultCode, from: number): number {
    this.fault = code;
    return from;
  }
}

/** End of `token [ "=" ( token / quoted-string ) ]` at `from`, or −1. The line's LF stops every loop. */
function extensionEnd(bytes: Buffer, from: number): number {
  let at = tokenEnd(bytes, from);
  if (at === from) return -1;
  if (bytes[at] !== EQUALS) return at;
  at++;
  if (bytes[at] !== QUOTE) {
    const valueEnd = tokenEnd(bytes, at);
    return valueEnd === at ? -1 : valueEnd;
  }
  at++;
  while (bytes[at] !== QUOTE) {
    if (bytes[at] === BACKSLASH) at++;
    if ((OCTETS[bytes[at]!]! & FIELD_VALUE) === 0) return -1;
    at++;
  }
  return at + 1;
}

function tokenEnd(bytes: Buffer, from: number): number {
  let at = from;
  while ((OCTETS[bytes[at]!]! & TOKEN) !== 0) at++;
  return at;
}

function hexDigit(octet: number): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  const lower = octet | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
