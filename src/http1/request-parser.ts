import { emptyHeadFacts, persists, readHeadFacts, type HeadFacts } from './framing.ts';
import { MessageParser } from './message-parser.ts';
import type { ParserLimits, RequestHandler } from './message.ts';
import { isKnownMethod } from './methods.ts';
import { CR, LF, OCTETS, SPACE, TARGET, TOKEN } from './octets.ts';
import type { ParseFaultCode } from './parse-fault.ts';
import type { ParserState } from './parser-state.ts';
import { targetFault } from './request-target.ts';

const DEFAULT_LIMITS: ParserLimits = {
  headBytes: 16_384,
  startLineBytes: 8192,
  fieldCount: 100,
  informationalCount: 32,
  chunkLineBytes: 256,
  trailerBytes: 8192,
};

/**
 * A strict, incremental parser of one connection's requests (RFC 9112). Anything doubtful is a fault; after it the
 * caller answers `fault.status` and closes. Handlers are called synchronously from `execute` and must not throw.
 */
export interface RequestParser {
  /**
   * Returns how many bytes were taken. Fewer than given: a request is over and the rest belongs to the next one; keep
   * it, answer, call `next` and give it again. After a fault all bytes count as taken.
   */
  execute(chunk: Buffer): number;
  /** Ready for the next request on this connection; without effect unless the last one is complete. */
  next(): void;
  readonly state: ParserState;
  /** A request was read to its end and `next` was not called yet. */
  readonly complete: boolean;
  readonly faulted: boolean;
  /** A byte of a request whose head is not complete arrived. */
  readonly headStarted: boolean;
  /** The head was delivered and the body is not over. */
  readonly inBody: boolean;
}

/** Limits not given take the defaults named in `ParserLimits`. The parser is ready for a first request. */
export function createRequestParser(handler: RequestHandler, limits: Partial<ParserLimits> = {}): RequestParser {
  return new StrictRequestParser(handler, { ...DEFAULT_LIMITS, ...limits });
}

class StrictRequestParser extends MessageParser implements RequestParser {
  readonly #requestHandler: RequestHandler;
  readonly #facts: HeadFacts = emptyHeadFacts();
  #emptyLineSeen = false;
  #method = '';
  #target = '';
  #versionMinor: 0 | 1 = 1;

  constructor(handler: RequestHandler, limits: ParserLimits) {
    super(handler, limits);
    this.#requestHandler = handler;
    this.expectHead();
  }

  get headStarted(): boolean {
    return this.headTouched;
  }

  next(): void {
    if (!this.complete) return;
    this.#emptyLineSeen = false;
    this.expectHead();
  }

  protected override canStart(bytes: Buffer, from: number): boolean {
    const first = bytes[from]!;
    return (OCTETS[first]! & TOKEN) !== 0 || first === CR || first === LF;
  }

  protected override readStartLine(bytes: Buffer, from: number, end: number): number {
    const lineFeed = bytes.indexOf(LF, from);
    if (lineFeed === -1 || lineFeed >= end) return from;
    if (bytes[from] === CR && lineFeed === from + 1) return this.#skipEmptyLine(bytes, from, end);
    const fault = this.#readRequestLine(bytes, from, lineFeed);
    if (fault !== undefined) {
      this.refuse(fault);
      return from;
    }
    this.expectFields();
    return lineFeed + 1;
  }

  protected override onHeaderSection(): void {
    const facts = this.#facts;
    const versionMinor = this.#versionMinor;
    const method = this.#method;
    const fault = readHeadFacts('request', this.fieldParser.fields, versionMinor, facts);
    if (fault !== undefined) return this.refuse(fault);
    if (facts.host === undefined && versionMinor === 1) return this.refuse('MISSING_HOST');
    const badTarget = targetFault(method, this.#target, facts.host);
    if (badTarget !== undefined) return this.refuse(badTarget);
    const bodyKind = facts.chunked ? 'chunked' : facts.contentLength === -1 ? 'none' : 'length';
    // After CONNECT some peers read a body and some the tunnel's first bytes.
    if (method === 'CONNECT' && bodyKind !== 'none') return this.refuse('UNEXPECTED_BODY');
    this.#requestHandler.onHead({
      versionMinor,
      method,
      target: this.#target,
      fields: this.fieldParser.fields,
      bodyKind,
      contentLength: facts.contentLength,
      keepAlive: persists(facts, versionMinor),
      // An HTTP/1.0 client cannot read a 100 (RFC 9110 §10.1.1).
      expectContinue: facts.expectContinue && versionMinor === 1,
      upgrade: facts.upgradeField && facts.connectionUpgrade && versionMinor === 1,
    });
    this.expectBody(bodyKind, facts.contentLength);
  }

  /** One empty line is tolerated: old clients send it after a POST's body (RFC 9112 §2.2). */
  #skipEmptyLine(bytes: Buffer, from: number, end: number): number {
    if (this.#emptyLineSeen) {
      this.refuse('EMPTY_LINES');
      return from;
    }
    this.#emptyLineSeen = true;
    const next = from + 2;
    if (next < end && !this.canStart(bytes, next)) {
      this.refuse('BAD_START_LINE');
      return next;
    }
    return next < end ? this.readStartLine(bytes, next, end) : next;
  }

  /** `GET /path HTTP/1.1` CRLF with single spaces; the line feed is at `lineFeed`. */
  #readRequestLine(bytes: Buffer, from: number, lineFeed: number): ParseFaultCode | undefined {
    if (bytes[lineFeed - 1] !== CR || lineFeed === from) return 'BARE_LF';
    let at = from;
    while ((OCTETS[bytes[at]!]! & TOKEN) !== 0) at++;
    const methodEnd = at;
    if (bytes[at] === CR) return at + 1 === lineFeed ? 'BAD_START_LINE' : 'BARE_CR';
    if (bytes[at] !== SPACE || methodEnd === from) return 'BAD_METHOD';
    const targetStart = ++at;
    while ((OCTETS[bytes[at]!]! & TARGET) !== 0) at++;
    const targetEnd = at;
    if (bytes[at] === CR) return at + 1 === lineFeed ? 'BAD_START_LINE' : 'BARE_CR';
    if (bytes[at] !== SPACE || targetEnd === targetStart) return 'BAD_TARGET';
    if (!isVersion(bytes, at + 1, lineFeed - 1)) {
      return looksLikeVersion(bytes, at + 1, lineFeed - 1) ? 'BAD_VERSION' : 'BAD_START_LINE';
    }
    const minor = bytes[lineFeed - 2]! - 0x30;
    if (bytes[lineFeed - 4] !== 0x31 || minor > 1) return 'BAD_VERSION';
    this.#method = methodText(bytes, from, methodEnd);
    if (!isKnownMethod(this.#method)) return 'UNKNOWN_METHOD';
    this.#target = bytes.toString('latin1', targetStart, targetEnd);
    this.#versionMinor = minor as 0 | 1;
    return undefined;
  }
}

const PROTOCOL = Buffer.from('HTTP/', 'latin1');

/** `HTTP/` DIGIT `.` DIGIT, exactly. */
function isVersion(bytes: Buffer, from: number, end: number): boolean {
  return (
    looksLikeVersion(bytes, from, end) &&
    end - from === 8 &&
    isDigit(bytes[from + 5]!) &&
    bytes[from + 6] === 0x2e &&
    isDigit(bytes[from + 7]!)
  );
}

function looksLikeVersion(bytes: Buffer, from: number, end: number): boolean {
  if (end - from < 5) return false;
  for (let i = 0; i < 5; i++) {
    if (bytes[from + i] !== PROTOCOL[i]) return false;
  }
  return true;
}

function isDigit(octet: number): boolean {
  return octet >= 0x30 && octet <= 0x39;
}

function methodText(bytes: Buffer, from: number, end: number): string {
  // Making a string costs more than knowing the commonest one.
  if (end - from === 3 && bytes[from] === 0x47 && bytes[from + 1] === 0x45 && bytes[from + 2] === 0x54) return 'GET';
  return bytes.toString('latin1', from, end);
}
