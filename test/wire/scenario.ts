import type { StopReason } from '../../src/core/decision.ts';
import type { ResponseFlag } from '../../src/proxy/access-record.ts';
import type { FieldsInput } from '../support/fields.ts';
import type { Behaviour, ConnectionBehaviour, RequestPoint } from '../support/origin-script.ts';
import type { FileObject } from '../support/running-gateway.ts';

/** What a client asks with. `keyed POST` carries an Idempotency-Key. */
export type Asked = 'GET' | 'PUT' | 'POST' | 'keyed POST' | 'HEAD';
export type Wire = '1.1' | '2';

/** One cell of the matrix. */
export interface Cell {
  readonly asked: Asked;
  /** Between the client and the gateway. */
  readonly front: Wire;
  /** Between the gateway and its origins. */
  readonly back: Wire;
  /** The request may be processed twice without harm. */
  readonly repeatable: boolean;
}

/** What an HTTP/2 origin can say beyond what both protocols can. */
export type Http2Word =
  /** RST_STREAM in place of an answer. `after`: an interim response of that status. */
  | { readonly do: 'rst'; readonly code: number; readonly at?: RequestPoint; readonly after?: number }
  /** GOAWAY. `last`: whether it names the stream of this request. */
  | { readonly do: 'goaway'; readonly code: number; readonly last: 'below' | 'this'; readonly at?: RequestPoint };

/** Says 100 as soon as the head is there, then 200 with this body when the request is complete. */
export interface Continue {
  readonly do: 'continue';
  readonly body: string;
}

export type OriginWord = Behaviour | Http2Word | Continue;

export type OriginPlan =
  /** Requests in order; the last one repeats. Requests to /warm are answered 200 and do not count. */
  | {
      readonly kind: 'server';
      readonly says: OriginWord | readonly OriginWord[];
      readonly connections?: ConnectionBehaviour;
      /** What becomes of the connection after a /warm answer. */
      readonly afterWarm?: 'keep-alive' | 'close';
      /** HTTP/2: SETTINGS_MAX_CONCURRENT_STREAMS. */
      readonly maxStreams?: number;
    }
  | { readonly kind: 'refused' }
  /** SYNs vanish. */
  | { readonly kind: 'black-hole' }
  /** No route leads there. */
  | { readonly kind: 'unroutable' }
  /** HTTP/2: answers its first request, then not even a PING. */
  | { readonly kind: 'mute' }
  | { readonly kind: 'tls'; readonly certificate: 'server' | 'expired' | 'wrongHost' | 'stranger' | 'stalls' };

export type ClientStep =
  /** The head, and as much of the body as is named (default: all of it). */
  | { readonly do: 'ask'; readonly bodyBytes?: number }
  /** What is left of the body. */
  | { readonly do: 'send-rest' }
  /** Bytes as they are, on HTTP/1.1. */
  | { readonly do: 'raw'; readonly bytes: string }
  /** Until everything that needs no time has happened. */
  | { readonly do: 'quiet' }
  /** Until an interim response or the answer is there. */
  | { readonly do: 'await-word' }
  /** Until the head of the answer is there. */
  | { readonly do: 'await-head' }
  /** Until the request is over for the gateway. */
  | { readonly do: 'await-record' }
  | { readonly do: 'open-gate'; readonly gate: string }
  | { readonly do: 'leave'; readonly how: 'close' | 'reset' }
  | { readonly do: 'half-close' }
  | { readonly do: 'stop-reading' }
  | { readonly do: 'read-on' };

export interface Expected {
  /** 0: the client got no answer. 'any': see `ending`. */
  readonly status: number | 'any';
  /** Default 'whole', 'none' for status 0. 'cut-or-own': a 200 that is visibly cut, or a whole 502 of ours. */
  readonly ending?: 'whole' | 'cut' | 'none' | 'cut-or-own';
  readonly text?: string;
  readonly interim?: readonly number[];
  /** Values of response fields; undefined: it must not be there. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
  /** Requests of which each origin saw at least a byte. */
  /** Fields with several values. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** Names in lower case. */
  readonly trailers?: readonly string[];
  readonly sends: readonly number[] | 'none whole';
  /** null: no upstream was asked. Default: not looked at. */
  readonly reason?: StopReason | null;
  readonly flags?: readonly ResponseFlag[];
  /** Each attempt as `failure/class` or its status, in order. */
  readonly attempts?: readonly (string | number)[];
  /** Status of the record where the client cannot know it. */
  readonly recorded?: number;
  readonly truncated?: boolean;
  /** No record at all: not even a head was read. */
  readonly unrecorded?: boolean;
  /** Bounds of the record's duration, in milliseconds of the case's clock. */
  readonly tookMs?: readonly [least: number, most: number];
  readonly replayLost?: string;
  /** An origin sees that the client left: its requests are closed before their answer. */
  readonly closedAtOrigin?: boolean;
}

export interface Scenario {
  /** `S9`, or a number of ours. */
  readonly id: string;
  /** What happens, as a sentence without a full stop. */
  readonly title: string;
  /** What must come of it and why, for readers. */
  readonly rule: string;
  /** Scenarios that differ in one word only share a table under this heading. */
  readonly family?: string;
  readonly origins: readonly OriginPlan[] | ((cell: Cell) => readonly OriginPlan[]);
  /** Default: GET, PUT, POST, keyed POST. */
  readonly asks?: readonly Asked[];
  readonly fronts?: readonly Wire[];
  readonly backs?: readonly Wire[];
  /** The endpoints are what a name stands for: these addresses with the port of the first origin. None: it cannot be resolved. */
  readonly dns?: readonly string[];
  /** Requests made before, so that there is a connection to be used again. */
  readonly warm?: number;
  /** Default: a policy that retries whatever may be retried. */
  readonly route?: FileObject;
  readonly upstream?: FileObject;
  readonly limits?: FileObject;
  readonly fields?: FieldsInput;
  /** Bytes of the request body of methods that have one. Default 4. */
  readonly bodyBytes?: number;
  readonly framing?: 'length' | 'chunked';
  readonly trailers?: Readonly<Record<string, string>>;
  /** Default: the whole request, at once. */
  readonly client?: readonly ClientStep[];
  readonly expect: Expected | ((cell: Cell) => Expected);
}

export const allAsks: readonly Asked[] = ['GET', 'PUT', 'POST', 'keyed POST'];
export const withBody: readonly Asked[] = ['PUT', 'POST', 'keyed POST'];
const wires: readonly Wire[] = ['1.1', '2'];

export function cellsOf(scenario: Scenario): Cell[] {
  const { asks = allAsks, fronts = wires, backs = wires } = scenario;
  return asks.flatMap((asked) =>
    fronts.flatMap((front) => backs.map((back): Cell => ({ asked, front, back, repeatable: asked !== 'POST' }))),
  );
}

export function cellName({ asked, front, back }: Cell): string {
  return `${asked}, HTTP/${front} in front, HTTP/${back} behind`;
}

/** Retries whatever its safety class lets it: what is not sent again here is sent again by no policy. */
export const boldest: FileObject = {
  retry: {
    attempts: 3,
    codes: [429, 500, 502, 503, 504],
    on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
    backoff: '10ms',
    jitter: 'none',
  },
};

export const server = (
  says: OriginWord | readonly OriginWord[],
  more: Omit<Extract<OriginPlan, { kind: 'server' }>, 'kind' | 'says'> = {},
): OriginPlan => ({ kind: 'server', says, ...more });

/** An origin that answers 200 with its name. */
export const answering = (name: string): OriginPlan => server({ do: 'respond', body: name });
