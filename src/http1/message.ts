/**
 * Header fields in order, duplicates kept, flat: `[name, value, name, value, …]`; names as received, values as
 * latin1 text without surrounding white space. No map: order, case and repeats matter to a proxy.
 */
export type FieldList = string[];

/** How the length of a body is known (RFC 9112 §6.3). */
export type BodyKind = 'none' | 'length' | 'chunked' | 'until-close';

/** Status line and fields of a response. */
export interface ResponseHead {
  /** 2: the message arrived in HTTP/2, and the rest is said in the words of HTTP/1.1. Left out: 1. */
  readonly versionMajor?: 1 | 2;
  /** Of HTTP/1: 0 or 1. */
  readonly versionMinor: 0 | 1;
  /** 100–599. */
  readonly status: number;
  /** May be empty. */
  readonly reason: string;
  /** Names and values by turns, as received. */
  readonly fields: FieldList;
  /** How its body is delimited. */
  readonly bodyKind: BodyKind;
  /** Declared length in bytes; −1 when there is no Content-Length. For HEAD and 304 it is what was declared. */
  readonly contentLength: number;
  /** Whether the peer lets the connection carry another request. */
  readonly keepAlive: boolean;
  /** `timeout` of the Keep-Alive field in milliseconds; −1 when absent. */
  readonly keepAliveTimeoutMs: number;
}

export interface RequestHead {
  readonly versionMinor: 0 | 1;
  readonly method: string;
  /** The request target as received. */
  readonly target: string;
  readonly fields: FieldList;
  readonly bodyKind: 'none' | 'length' | 'chunked';
  /** Declared length in bytes; −1 when there is none. */
  readonly contentLength: number;
  readonly keepAlive: boolean;
  /** It carries `Expect: 100-continue`. */
  readonly expectContinue: boolean;
  /** It carries `Upgrade` nominated by `Connection`. */
  readonly upgrade: boolean;
}

/** Why bytes were refused: a stable code, words for people, and the status a server answers with. */
export interface ParseFault {
  readonly code: string;
  readonly message: string;
  /** 400, 414, 417, 431, 501 or 505; only meaningful for requests. */
  readonly status: number;
}

export interface ResponseHandler {
  /** A 1xx other than 101. */
  onInformational(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  onData(chunk: Buffer): void;
  /** The message ended; trailers are empty unless it was chunked. */
  onComplete(trailers: FieldList): void;
  onFault(fault: ParseFault): void;
}

export interface RequestHandler {
  onHead(head: RequestHead): void;
  onData(chunk: Buffer): void;
  onComplete(trailers: FieldList): void;
  onFault(fault: ParseFault): void;
}

/** What a message may take. */
export interface ParserLimits {
  /** Start line and header section together. Default 16 384 for requests, 65 536 for responses. */
  readonly headBytes: number;
  /** The request line with its CRLF; a longer one is 414. Responses are bounded by `headBytes` alone. Default 8192. */
  readonly startLineBytes: number;
  /** Fields of a header or trailer section. Default 100 for requests, 200 for responses. */
  readonly fieldCount: number;
  /** Interim responses (1xx other than 101) before one final response. Default 32. */
  readonly informationalCount: number;
  /** Longest chunk-size line with extensions and CRLF, in bytes. Default 256. */
  readonly chunkLineBytes: number;
  /** The whole trailer section. Default 8192. */
  readonly trailerBytes: number;
}
