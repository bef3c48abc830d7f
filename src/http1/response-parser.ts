import { emptyHeadFacts, persists, readHeadFacts, responseBody, type HeadFacts } from './framing.ts';
import { MessageParser } from './message-parser.ts';
import type { ParserLimits, ResponseHandler, ResponseHead } from './message.ts';
import { CR, FIELD_VALUE, LF, OCTETS, SPACE } from './octets.ts';
import type { ParserState } from './parser-state.ts';

const DEFAULT_LIMITS: ParserLimits = {
  headBytes: 65_536,
  startLineBytes: 65_536,
  fieldCount: 200,
  informationalCount: 32,
  chunkLineBytes: 256,
  trailerBytes: 8192,
};

/**
 * A strict, incremental parser of one connection's responses (RFC 9112). Anything doubtful is a fault, after which the
 * connection must be destroyed. Handlers are called synchronously from `execute` and `end` and must not throw.
 */
export interface ResponseParser {
  /** Start of a new response to `requestMethod`, which decides whether it has a body (HEAD, CONNECT). */
  expect(requestMethod: string): void;
  /**
   * Returns how many bytes were taken. Fewer than given: the response is over (or 101/tunnel began, see `upgraded`, or
   * none was expected) and the rest is not part of it; a caller that did not upgrade destroys the connection. After a
   * fault all bytes count as taken.
   */
  execute(chunk: Buffer): number;
  /** The peer sent FIN: ends a body that only the close delimits. In any other state nothing happens: see `complete`. */
  end(): void;
  readonly state: ParserState;
  /** The final response was read to its end. */
  readonly complete: boolean;
  readonly faulted: boolean;
  /** A byte of the final head, or of an interim one that is not complete yet, arrived. */
  readonly headStarted: boolean;
  /** The final head was delivered and its body is not over. */
  readonly inBody: boolean;
  /** 101 or a 2xx to CONNECT was delivered by `onHead`; what follows is not HTTP. No `onComplete` comes. */
  readonly upgraded: boolean;
}

/** Limits not given take the defaults named in `ParserLimits`. */
export function createResponseParser(handler: ResponseHandler, limits: Partial<ParserLimits> = {}): ResponseParser {
  const all = { ...DEFAULT_LIMITS, ...limits };
  return new StrictResponseParser(handler, { ...all, startLineBytes: all.headBytes });
}

class StrictResponseParser extends MessageParser implements ResponseParser {
  readonly #responseHandler: ResponseHandler;
  readonly #facts: HeadFacts = emptyHeadFacts();
  #requestMethod = '';
  #informationalCount = 0;
  #headDelivered = false;
  #versionMinor: 0 | 1 = 1;
  #status = 0;
  #reason = '';

  constructor(handler: ResponseHandler, limits: ParserLimits) {
    super(handler, limits);
    this.#responseHandler = handler;
  }

  get headStarted(): boolean {
    return this.#headDelivered || this.headTouched;
  }

  get upgraded(): boolean {
    return this.state === 'upgraded';
  }

  expect(requestMethod: string): void {
    this.#requestMethod = requestMethod;
    this.#informationalCount = 0;
    this.#headDelivered = false;
    if (!this.faulted && !this.upgraded) this.expectHead();
  }

  end(): void {
    if (this.state === 'until-close') this.finish([]);
  }

  protected override canStart(bytes: Buffer, from: number, end: number): boolean {
    return matches(bytes, from, Math.min(end, from + 5));
  }

  /** `HTTP/1.1 200 OK`; the space and phrase after the status may be missing. */
  protected override readStartLine(bytes: Buffer, from: number, end: number): number {
    const lineFeed = bytes.indexOf(LF, from);
    if (lineFeed === -1 || lineFeed >= end) return from;
    // The line feed fails one of these comparisons when the line is too short for them.
    const minor = bytes[from + 7]! - 0x30;
    if (bytes[from + 5] !== 0x31 || bytes[from + 6] !== 0x2e || (minor !== 0 && minor !== 1)) {
      return this.#refuseLine('BAD_VERSION', from);
    }
    const status = (bytes[from + 9]! - 0x30) * 100 + (bytes[from + 10]! - 0x30) * 10 + (bytes[from + 11]! - 0x30);
    if (bytes[from + 8] !== SPACE || !isDigits(bytes, from + 9) || status < 100 || status > 599) {
      return this.#refuseLine('BAD_STATUS', from);
    }
    let at = from + 12;
    if (bytes[at] === SPACE) {
      while ((OCTETS[bytes[at]!]! & FIELD_VALUE) !== 0) at++;
    }
    if (bytes[at] === LF) return this.#refuseLine('BARE_LF', from);
    if (bytes[at] !== CR) return this.#refuseLine(at === from + 12 ? 'BAD_STATUS' : 'BAD_REASON', from);
    if (at + 1 !== lineFeed) return this.#refuseLine('BARE_CR', from);
    this.#versionMinor = minor;
    this.#status = status;
    this.#reason = reasonText(bytes, from + 13, at, status);
    this.expectFields();
    return lineFeed + 1;
  }

  protected override onHeaderSection(): void {
    const facts = this.#facts;
    const fault = readHeadFacts('response', this.fieldParser.fields, this.#versionMinor, facts);
    if (fault !== undefined) return this.refuse(fault);
    const status = this.#status;
    if (status === 101 || (this.#requestMethod === 'CONNECT' && status >= 200 && status < 300)) {
      this.#headDelivered = true;
      this.becomeUpgraded();
      return this.#responseHandler.onHead(this.#head('none', false));
    }
    if (status < 200) return this.#onInformational();
    const body = responseBody(facts, status, this.#requestMethod);
    this.#headDelivered = true;
    this.#responseHandler.onHead(this.#head(body.kind, body.reusable && persists(facts, this.#versionMinor)));
    this.expectBody(body.kind, facts.contentLength);
  }

  #onInformational(): void {
    const facts = this.#facts;
    const keepAlive = persists(facts, this.#versionMinor);
    // No final response could follow these, or not where we would look for it.
    if (!keepAlive || facts.chunked || facts.contentLength > 0) return this.refuse('BAD_INFORMATIONAL');
    if (++this.#informationalCount > this.limits.informationalCount) return this.refuse('TOO_MANY_INFORMATIONAL');
    const head = this.#head('none', keepAlive);
    this.expectHead();
    this.#responseHandler.onInformational(head);
  }

  #head(bodyKind: ResponseHead['bodyKind'], keepAlive: boolean): ResponseHead {
    return {
      versionMinor: this.#versionMinor,
      status: this.#status,
      reason: this.#reason,
      fields: this.fieldParser.fields,
      bodyKind,
      contentLength: this.#facts.contentLength,
      keepAlive,
      keepAliveTimeoutMs: this.#facts.keepAliveTimeoutMs,
    };
  }

  #refuseLine(code: 'BAD_VERSION' | 'BAD_STATUS' | 'BAD_REASON' | 'BARE_LF' | 'BARE_CR', from: number): number {
    this.refuse(code);
    return from;
  }
}

const PROTOCOL = Buffer.from('HTTP/', 'latin1');

function matches(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    if (bytes[at] !== PROTOCOL[at - from]) return false;
  }
  return true;
}

function isDigits(bytes: Buffer, from: number): boolean {
  for (let at = from; at < from + 3; at++) {
    if (bytes[at]! < 0x30 || bytes[at]! > 0x39) return false;
  }
  return true;
}

function reasonText(bytes: Buffer, from: number, end: number, status: number): string {
  if (end <= from) return '';
  // Almost every response says this; comparing beats making a string.
  if (status === 200 && end - from === 2 && bytes[from] === 0x4f && bytes[from + 1] === 0x4b) return 'OK';
  return bytes.toString('latin1', from, end);
}
