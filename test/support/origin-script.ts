import type { FieldsInput } from './fields.ts';
import type { JournalRequest, RequestFilter } from './journal.ts';

/** A script is data: what an origin does with each connection and each request. */
export type Bytes = string | Buffer;

/** How far a request must have come before its behaviour begins. `bodyBytes` counts the body without framing. */
export type RequestPoint = 'head' | 'complete' | { readonly bodyBytes: number };

/**
 * What happens to the connection after the bytes.
 * - `keep-alive`: it waits for the next request.
 * - `close`: FIN, and it keeps reading (and recording) until the client closes too.
 * - `destroy`: closes both ways at once, as a process that exits does; what arrives later meets an RST.
 * - `reset`: RST.
 * - `hang`: nothing more is sent; reading goes on.
 * - `stop-reading`: nothing more is sent or read: a window that falls to zero.
 */
export type Then = 'keep-alive' | 'close' | 'destroy' | 'reset' | 'hang' | 'stop-reading';

export interface Interim {
  readonly status: number;
  readonly headers?: FieldsInput;
  /** How many times; default 1. */
  readonly count?: number;
}

export interface Respond {
  readonly do: 'respond';
  /** Default 'complete'. An earlier point makes it an early answer. */
  readonly at?: RequestPoint;
  readonly delayMs?: number;
  /** Waits for `origin.open(gate)` before the first byte. */
  readonly gate?: string;
  /** 1xx heads before the final one. */
  readonly interim?: readonly Interim[];
  /** Default 200. */
  readonly status?: number;
  readonly reason?: string;
  /** Default `HTTP/1.1`. */
  readonly version?: string;
  readonly headers?: FieldsInput;
  readonly body?: Bytes;
  /** Splits a chunked body; default one chunk. */
  readonly chunkBytes?: number;
  /** Default 'length'; 'none' adds no framing field; 'until-close' ends with a FIN. */
  readonly framing?: 'length' | 'chunked' | 'until-close' | 'none';
  readonly trailers?: FieldsInput;
  /** A lying Content-Length. */
  readonly declaredBytes?: number;
  /** Sends body bytes although the method or the status forbids it. */
  readonly forceBody?: boolean;
  /** Sent right behind the response: extra bytes, or an answer nobody asked for. */
  readonly extra?: Bytes;
  /** Waits for `origin.open(gate)` between head and body. */
  readonly bodyGate?: string;
  /** Milliseconds between head and body. */
  readonly bodyDelayMs?: number;
  /** Sends only the first bytes of the head, or of what follows the head, then does `then`. */
  readonly cut?: { readonly headBytes: number } | { readonly bodyBytes: number };
  /** Sends slowly. */
  readonly drip?: { readonly part: 'head' | 'body' | 'all'; readonly pieceBytes: number; readonly everyMs: number };
  /** Default 'keep-alive', or 'close' for a body framed by the close. */
  readonly then?: Then;
}

/** Exact bytes: for everything that is not HTTP. */
export interface Raw {
  readonly do: 'raw';
  readonly at?: RequestPoint;
  readonly delayMs?: number;
  readonly bytes: Bytes;
  /** Default 'keep-alive'. */
  readonly then?: Then;
}

/** No byte of an answer. */
export interface Silent {
  readonly do: 'reset' | 'close' | 'destroy' | 'hang' | 'stop-reading';
  readonly at?: RequestPoint;
  readonly delayMs?: number;
}

/** A head, then body bytes for ever (with the client's back-pressure). `head`: the header section itself never ends. */
export interface Endless {
  readonly do: 'endless';
  readonly part?: 'head' | 'body';
  readonly status?: number;
  readonly headers?: FieldsInput;
  readonly framing?: 'chunked' | 'until-close';
  readonly pieceBytes?: number;
}

/**
 * The Gateway API echo server's retry page: `/retry/?uuid=…&succeedAfter=n&responseCode=c&delayRetry=d`. The first n
 * requests of one uuid are answered with c after d (RST when there is no c), the later ones with 200.
 */
export interface RetryEcho {
  readonly do: 'retry-echo';
}

/** For what the behaviours above cannot say. */
export interface Steps {
  readonly do: 'steps';
  readonly steps: readonly Step[];
}

export type Behaviour = Respond | Raw | Silent | Endless | RetryEcho | Steps;

export type Step =
  | { readonly step: 'until'; readonly point: RequestPoint }
  | { readonly step: 'wait'; readonly ms: number }
  | { readonly step: 'gate'; readonly name: string }
  | { readonly step: 'send'; readonly bytes: Bytes }
  /** A whole 200 whose body is made when its turn comes: from what was received, say. */
  | { readonly step: 'answer'; readonly with: () => string }
  | { readonly step: 'drip'; readonly bytes: Bytes; readonly pieceBytes: number; readonly everyMs: number }
  | { readonly step: 'send-for-ever'; readonly bytes: Bytes }
  | { readonly step: 'resume-reading' }
  /** The answer is out as far as the script is concerned: a client that leaves later did not leave it. */
  | { readonly step: 'answered' }
  | { readonly step: Then };

/**
 * What happens when a connection is accepted, before any request.
 * - `serve`: requests are read and answered.
 * - `reset`, `close`, `destroy`, `hang`, `stop-reading`: as in `Then`, at once; `hang` reads and records, and answers nothing.
 * - `send`: bytes nobody asked for, then as `serve`.
 * - `after`: does `then` as soon as that many bytes of requests arrived, mid-head for instance.
 */
export type ConnectionBehaviour =
  | 'serve'
  | 'reset'
  | 'close'
  | 'destroy'
  | 'hang'
  | 'stop-reading'
  | { readonly send: Bytes }
  | { readonly afterBytes: number; readonly then: Then };

/** A list is used in order; its last element repeats. */
export type RequestScript = Behaviour | readonly Behaviour[] | ((request: JournalRequest) => Behaviour);

export interface Rule {
  readonly when: RequestFilter & { readonly number?: number; readonly requestOnConnection?: number };
  readonly behave: Behaviour;
}

export interface FullScript {
  /** By number of the connection. Default 'serve'. */
  readonly connections?: ConnectionBehaviour | readonly ConnectionBehaviour[];
  /** The first rule that matches decides. */
  readonly rules?: readonly Rule[];
  /** By number of the request on its connection. */
  readonly onConnection?: readonly Behaviour[];
  /** By number of the request over all connections. Default: 200 "ok". */
  readonly requests?: RequestScript;
}

export type OriginScript = RequestScript | FullScript;
