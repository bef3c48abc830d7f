/**
 * One table of what each octet may be, so that the hot loops test a bit and nothing else.
 * Sources: RFC 9110 §5.6.2 (token), §5.5 (field value), RFC 9112 §3.2 with RFC 3986 (request target).
 */
export const TOKEN: number = 1;
/** SP, HTAB, visible ASCII and obs-text (0x80–0xFF); every control character is out. */
export const FIELD_VALUE: number = 2;
/** Visible ASCII but `#`: a fragment is never sent, and raw bytes above 0x7F must come percent-encoded. */
export const TARGET: number = 4;
/** Letters, digits, `-`, `.`, `_`, `~`: all that a host name on the wire needs. */
export const HOST_NAME: number = 8;

export const TAB: number = 0x09;
export const LF: number = 0x0a;
export const CR: number = 0x0d;
export const SPACE: number = 0x20;
export const COLON: number = 0x3a;

export const OCTETS: Uint8Array = buildTable();

function buildTable(): Uint8Array {
  const table = new Uint8Array(256);
  const letterOrDigit = /[0-9A-Za-z]/;
  for (let octet = 0; octet < 256; octet++) {
    const char = String.fromCharCode(octet);
    const visible = octet > SPACE && octet < 0x7f;
    let bits = 0;
    if (octet === TAB || octet === SPACE || visible || octet >= 0x80) bits |= FIELD_VALUE;
    if (visible && char !== '#') bits |= TARGET;
    if (letterOrDigit.test(char) || "!#$%&'*+-.^_`|~".includes(char)) bits |= TOKEN;
    if (letterOrDigit.test(char) || '-._~'.includes(char)) bits |= HOST_NAME;
    table[octet] = bits;
  }
  return table;
}

/** Whether every character of a non-empty text has one of `bits`. Characters above 0xFF have none. */
export function consistsOf(text: string, bits: number): boolean {
  if (text.length === 0) return false;
  const octets = OCTETS;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // A character above 0xFF would be cut to its low byte on a latin1 write, and U+010D, U+010A would become CR, LF.
    if (code > 0xff || (octets[code]! & bits) === 0) return false;
  }
  return true;
}
