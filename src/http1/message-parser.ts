import { ChunkLineParser } from './chunk-parser.ts';
import { FieldParser } from './field-parser.ts';
import { LineBuffer } from './line-buffer.ts';
import type { BodyKind, FieldList, ParseFault, ParserLimits } from './message.ts';
import { CR, LF } from './octets.ts';
import { parseFault, type ParseFaultCode } from './parse-fault.ts';
import { isBodyState, type ParserState } from './parser-state.ts';
import { hasForbiddenTrailer } from './trailers.ts';

export interface MessageHandler {
  onData(chunk: Buffer): void;
  onComplete(trailers: FieldList): void;
  onFault(fault: ParseFault): void;
}

/**
 * What request and response parsers share: lines put together across chunks, limits, bodies. Lines are read straight
 * from the chunk; only a line cut by the end of a chunk is copied. Each byte is looked at a bounded number of times
 * however the input is cut, and the events do not depend on the cuts.
 */
export abstract class MessageParser {
  protected readonly fieldParser: FieldParser;
  protected readonly limits: ParserLimits;
  #state: ParserState = 'idle';
  readonly #handler: MessageHandler;
  readonly #line: LineBuffer = new LineBuffer();
  readonly #chunkLine: ChunkLineParser = new ChunkLineParser();
  /** Bytes of whole lines read in this section. */
  #sectionBytes = 0;
  /** Body or chunk bytes still to come. */
  #remaining = 0;
  #ended = false;

  protected constructor(handler: MessageHandler, limits: ParserLimits) {
    this.#handler = handler;
    this.limits = limits;
    this.fieldParser = new FieldParser(limits.fieldCount);
  }

  get state(): ParserState {
    return this.#state;
  }

  get complete(): boolean {
    return this.#state === 'complete';
  }

  get faulted(): boolean {
    return this.#state === 'faulted';
  }

  get inBody(): boolean {
    return isBodyState(this.#state);
  }

  /** A byte of a head that is not complete was read; the empty line tolerated before a request does not count. */
  protected get headTouched(): boolean {
    return this.#state === 'fields' || (this.#state === 'start-line' && this.#line.length > 0);
  }

  execute(chunk: Buffer): number {
    const end = chunk.length;
    let at = 0;
    this.#ended = false;
    while (at < end && !this.#ended) {
      switch (this.#state) {
        case 'start-line':
        case 'fields':
        case 'chunk-size':
        case 'trailers':
          at = this.#line.length === 0 ? this.#readLines(chunk, at, end) : this.#finishLine(chunk, at, end);
          break;
        case 'length':
        case 'chunk-data':
          at = this.#readCounted(chunk, at, end);
          break;
        case 'until-close':
          this.#handler.onData(at === 0 ? chunk : chunk.subarray(at));
          return end;
        case 'chunk-cr':
          if (chunk[at++] === CR) this.#state = 'chunk-lf';
          else this.refuse('BAD_CHUNK_END');
          break;
        case 'chunk-lf':
          if (chunk[at++] === LF) this.#expectLine('chunk-size');
          else this.refuse('BAD_CHUNK_END');
          break;
        case 'faulted':
          return end;
        case 'idle':
        case 'complete':
        case 'upgraded':
          return at;
      }
    }
    return this.#state === 'faulted' ? end : at;
  }

  /** Reads a start line of `bytes` in [from, end); returns the position after it, or `from` when it is incomplete. */
  protected abstract readStartLine(bytes: Buffer, from: number, end: number): number;
  /** Whether [from, end) can begin a start line; decided at once, for garbage may never send a line feed. */
  protected abstract canStart(bytes: Buffer, from: number, end: number): boolean;
  protected abstract onHeaderSection(): void;

  protected expectHead(): void {
    this.#line.clear();
    this.#expectLine('start-line');
  }

  protected expectFields(): void {
    this.fieldParser.reset();
    this.#state = 'fields';
  }

  protected expectBody(kind: BodyKind, lengthBytes: number): void {
    if (kind === 'none' || (kind === 'length' && lengthBytes === 0)) {
      this.finish([]);
    } else if (kind === 'chunked') {
      this.#expectLine('chunk-size');
    } else {
      this.#remaining = lengthBytes;
      this.#state = kind;
    }
  }

  protected finish(trailers: FieldList): void {
    this.#state = 'complete';
    this.#ended = true;
    this.#handler.onComplete(trailers);
  }

  protected becomeUpgraded(): void {
    this.#state = 'upgraded';
    this.#ended = true;
  }

  protected refuse(code: ParseFaultCode): void {
    this.#state = 'faulted';
    this.#ended = true;
    this.#line.clear();
    this.#handler.onFault(parseFault(code));
  }

  #expectLine(state: 'start-line' | 'chunk-size' | 'trailers'): void {
    this.#state = state;
    this.#sectionBytes = 0;
  }

  #readCounted(chunk: Buffer, at: number, end: number): number {
    const taken = Math.min(end - at, this.#remaining);
    this.#remaining -= taken;
    const last = this.#remaining === 0;
    const inChunk = this.#state === 'chunk-data';
    if (last && inChunk) this.#state = 'chunk-cr';
    this.#handler.onData(taken === chunk.length ? chunk : chunk.subarray(at, at + taken));
    if (last && !inChunk) this.finish([]);
    return at + taken;
  }

  /** Reads the whole lines at `at`; keeps what is left when no further line is complete. */
  #readLines(chunk: Buffer, at: number, end: number): number {
    const state = this.#state;
    if (state === 'start-line' && !this.#maybeStarts(chunk, at, end)) return end;
    const stop = Math.min(end, at + this.#sectionLimit() - this.#sectionBytes);
    const next = this.#readWholeLines(chunk, at, stop);
    if (this.#ended || this.#state !== state) return next;
    this.#sectionBytes += next - at;
    if (stop < end) {
      this.refuse(this.#sectionFault());
      return end;
    }
    if (next < end) this.#line.append(chunk, next, end);
    return end;
  }

  /** Completes the kept line from `chunk`. */
  #finishLine(chunk: Buffer, at: number, end: number): number {
    const lineFeed = chunk.indexOf(LF, at);
    const lineEnd = lineFeed === -1 ? end : lineFeed + 1;
    const room = this.#sectionLimit() - this.#sectionBytes - this.#line.length;
    const stop = Math.min(lineEnd, at + room);
    this.#line.append(chunk, at, stop);
    const line = this.#line.view();
    if (this.#state === 'start-line' && !this.#maybeStarts(line, 0, line.length)) return end;
    if (stop < lineEnd) {
      this.refuse(this.#sectionFault());
      return end;
    }
    if (lineFeed === -1) return end;
    const state = this.#state;
    this.#line.clear();
    this.#readWholeLines(line, 0, line.length);
    if (this.#state === state) this.#sectionBytes += line.length;
    return lineEnd;
  }

  #maybeStarts(bytes: Buffer, from: number, end: number): boolean {
    if (this.canStart(bytes, from, end)) return true;
    this.refuse('BAD_START_LINE');
    return false;
  }

  #readWholeLines(bytes: Buffer, from: number, end: number): number {
    switch (this.#state) {
      case 'start-line': {
        const next = this.readStartLine(bytes, from, end);
        // The header section's limit counts the start line too.
        if (this.state === 'fields') this.#sectionBytes += next - from;
        return next;
      }
      case 'chunk-size':
        return this.#readChunkLine(bytes, from, end);
      default:
        return this.#readFieldLines(bytes, from, end);
    }
  }

  #readFieldLines(bytes: Buffer, from: number, end: number): number {
    const parser = this.fieldParser;
    const next = parser.parse(bytes, from, end);
    if (parser.fault !== undefined) this.refuse(parser.fault);
    else if (parser.done && this.#state === 'trailers') this.#onTrailers(parser.fields);
    else if (parser.done) this.onHeaderSection();
    return next;
  }

  #readChunkLine(bytes: Buffer, from: number, end: number): number {
    const parser = this.#chunkLine;
    const next = parser.parse(bytes, from, end);
    if (parser.fault !== undefined) {
      this.refuse(parser.fault);
    } else if (next > from && parser.size === 0) {
      this.fieldParser.reset();
      this.#expectLine('trailers');
    } else if (next > from) {
      this.#remaining = parser.size;
      this.#state = 'chunk-data';
    }
    return next;
  }

  #onTrailers(trailers: FieldList): void {
    if (hasForbiddenTrailer(trailers)) this.refuse('FORBIDDEN_TRAILER');
    else this.finish(trailers);
  }

  #sectionLimit(): number {
    switch (this.#state) {
      case 'start-line':
        return Math.min(this.limits.startLineBytes, this.limits.headBytes);
      case 'chunk-size':
        return this.limits.chunkLineBytes;
      case 'trailers':
        return this.limits.trailerBytes;
      default:
        return this.limits.headBytes;
    }
  }

  #sectionFault(): ParseFaultCode {
    switch (this.#state) {
      case 'start-line':
        return this.limits.startLineBytes < this.limits.headBytes ? 'TARGET_TOO_LONG' : 'HEAD_TOO_LARGE';
      case 'chunk-size':
        return 'CHUNK_LINE_TOO_LONG';
      case 'trailers':
        return 'TRAILERS_TOO_LARGE';
      default:
        return 'HEAD_TOO_LARGE';
    }
  }
}
