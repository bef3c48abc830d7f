import { isNamed } from './field-list.ts';
import type { FieldList } from './message.ts';
import { COLON, CR, LF, OCTETS, SPACE, TAB, TOKEN } from './octets.ts';
import type { ParseFaultCode } from './parse-fault.ts';

/**
 * Positions of the fields of one run: name start, name end, value start, value end. Shared by all parsers: a run fills
 * and empties it without yielding.
 */
let marks = new Int32Array(4 * 64);

/**
 * Reads field lines (RFC 9112 §5) into a flat list: one pass over the bytes for grammar, then one string for the whole
 * run, of which names and values are slices.
 */
export class FieldParser {
  fields: FieldList = [];
  /** The empty line that ends the section was read. */
  done = false;
  fault: ParseFaultCode | undefined = undefined;
  readonly #fieldCount: number;

  constructor(fieldCount: number) {
    this.#fieldCount = fieldCount;
  }

  reset(): void {
    this.fields = [];
    this.done = false;
  }

  /**
   * Reads whole lines of `bytes` in [from, end) and returns where the first incomplete one begins. A line is refused
   * only when its LF is there: the verdict must not depend on how the bytes were cut.
   */
  parse(bytes: Buffer, from: number, end: number): number {
    let at = from;
    let used = 0;
    let lineStart = from;
    const room = this.#fieldCount * 4 - this.fields.length * 2;
    // Imported bindings are looked up at each use; in this loop that doubles the time.
    const octets = OCTETS;
    const token = TOKEN;
    let positions = marks;
    for (;;) {
      lineStart = at;
      while (at < end && (octets[bytes[at]!]! & token) !== 0) at++;
      if (at === end) break;
      const stopper = bytes[at]!;
      if (stopper !== COLON || at === lineStart) {
        if (stopper === CR && at === lineStart) {
          if (at + 1 === end) break;
          if (bytes[at + 1] === LF) {
            this.done = true;
            lineStart = at + 2;
            break;
          }
        }
        this.#refuse(nameFault(stopper, at === lineStart, bytes, at, end), bytes, lineStart, end);
        break;
      }
      const nameEnd = at++;
      while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
      const valueStart = at;
      // FIELD_VALUE spelled as comparisons: a third faster than the table on the longest stretch of a head.
      for (; at < end; at++) {
        const octet = bytes[at]!;
        if ((octet - SPACE) >>> 0 >= 0x5f && octet < 0x80 && octet !== TAB) break;
      }
      if (at === end) break;
      if (bytes[at] !== CR) {
        this.#refuse(bytes[at] === LF ? 'BARE_LF' : 'BAD_FIELD_VALUE', bytes, lineStart, end);
        break;
      }
      if (at + 1 === end) break;
      if (bytes[at + 1] !== LF) {
        this.#refuse('BARE_CR', bytes, lineStart, end);
        break;
      }
      if (used >= room) {
        this.fault = 'TOO_MANY_FIELDS';
        break;
      }
      let valueEnd = at;
      while (valueEnd > valueStart && (bytes[valueEnd - 1] === SPACE || bytes[valueEnd - 1] === TAB)) valueEnd--;
      if (valueEnd !== at) {
        const fault = paddingFault(bytes, lineStart, nameEnd, valueEnd, at);
        if (fault !== undefined) {
          this.fault = fault;
          break;
        }
      }
      if (used === positions.length) positions = marks = grown(positions);
      positions[used] = lineStart;
      positions[used + 1] = nameEnd;
      positions[used + 2] = valueStart;
      positions[used + 3] = valueEnd;
      used += 4;
      at += 2;
    }
    if (used !== 0 && this.fault === undefined) this.#collect(bytes, from, used);
    return lineStart;
  }

  #collect(bytes: Buffer, from: number, used: number): void {
    const positions = marks;
    const text = bytes.toString('latin1', from, positions[used - 1]);
    const before = this.fields;
    // Sized at once: growing it by push costs more than the slices.
    const fields = new Array<string>(before.length + (used >> 1));
    let index = 0;
    while (index < before.length) fields[index] = before[index++]!;
    for (let mark = 0; mark < used; mark += 4) {
      fields[index++] = text.slice(positions[mark]! - from, positions[mark + 1]! - from);
      fields[index++] = text.slice(positions[mark + 2]! - from, positions[mark + 3]! - from);
    }
    this.fields = fields;
  }

  #refuse(code: ParseFaultCode, bytes: Buffer, lineStart: number, end: number): void {
    const lineEnd = bytes.indexOf(LF, lineStart);
    if (lineEnd !== -1 && lineEnd < end) this.fault = code;
  }
}

/**
 * `Transfer-Encoding: chunked` HTAB is the chunked coding by grammar and an unknown one to parsers that only strip
 * spaces there, Node's among them.
 */
function paddingFault(
  bytes: Buffer,
  nameStart: number,
  nameEnd: number,
  from: number,
  end: number,
): ParseFaultCode | undefined {
  const tab = bytes.indexOf(TAB, from);
  if (tab === -1 || tab >= end) return undefined;
  const name = bytes.toString('latin1', nameStart, nameEnd);
  if (isNamed(name, 'transfer-encoding')) return 'BAD_TRANSFER_ENCODING';
  return isNamed(name, 'content-length') ? 'BAD_CONTENT_LENGTH' : undefined;
}

function nameFault(stopper: number, atStart: boolean, bytes: Buffer, at: number, end: number): ParseFaultCode {
  if (stopper === LF) return 'BARE_LF';
  if (stopper === CR) return at + 1 < end && bytes[at + 1] === LF ? 'BAD_FIELD_NAME' : 'BARE_CR';
  if (stopper !== SPACE && stopper !== TAB) return 'BAD_FIELD_NAME';
  if (atStart) return 'OBS_FOLD';
  let next = at;
  while (next < end && (bytes[next] === SPACE || bytes[next] === TAB)) next++;
  return next < end && bytes[next] === COLON ? 'SPACE_BEFORE_COLON' : 'BAD_FIELD_NAME';
}

function grown(old: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const next = new Int32Array(old.length * 2);
  next.set(old);
  return next;
}
