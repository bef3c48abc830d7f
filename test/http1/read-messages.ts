import type { FieldList, ParserLimits } from '../../src/http1/message.ts';
import { createRequestParser } from '../../src/http1/request-parser.ts';
import { createResponseParser } from '../../src/http1/response-parser.ts';

/** One message as a reader understood it, in a form that two readers can be compared by. */
export interface ReadMessage {
  /** `GET /path 1` or `200 OK 1`; the last digit is the minor version. */
  start: string;
  fields: FieldList;
  body: string;
  trailers: FieldList;
  keepAlive: boolean;
  complete: boolean;
}

export interface Reading {
  messages: ReadMessage[];
  /**
   * `open`: more bytes are awaited. `stopped`: the connection carries no further message by the last one's own word.
   */
  outcome: 'open' | 'stopped' | 'fault';
  faultCode: string;
  faultStatus: number;
  /** Bytes not taken when it stopped. */
  rest: string;
}

interface Parser {
  execute(chunk: Buffer): number;
  readonly faulted: boolean;
  readonly complete: boolean;
  readonly upgraded?: boolean;
}

/** Reads pipelined requests; `cuts` are ascending offsets at which the bytes are split. */
export function readRequests(bytes: Buffer, cuts: readonly number[] = [], limits: Partial<ParserLimits> = {}): Reading {
  const reading = emptyReading();
  const parser = createRequestParser(
    {
      onHead: (head) =>
        begin(reading, `${head.method} ${head.target} ${head.versionMinor}`, head.fields, head.keepAlive),
      onData: (chunk) => (last(reading).body += chunk.toString('latin1')),
      onComplete: (trailers) => complete(reading, trailers),
      onFault: (fault) => fail(reading, fault),
    },
    limits,
  );
  feed(parser, bytes, cuts, reading, (mayContinue) => {
    // A tunnel or another protocol begins after these.
    const isLast = !mayContinue || last(reading).start.startsWith('CONNECT ');
    if (!isLast) parser.next();
    return isLast;
  });
  return reading;
}

/** Reads responses on one connection, each to `requestMethod`, then the end of the stream. */
export function readResponses(
  bytes: Buffer,
  requestMethod: string,
  cuts: readonly number[] = [],
  limits: Partial<ParserLimits> = {},
): Reading {
  const reading = emptyReading();
  const parser = createResponseParser(
    {
      onInformational: (head) => {
        begin(reading, `${head.status} ${head.reason} ${head.versionMinor}`, head.fields, head.keepAlive);
        complete(reading, []);
      },
      onHead: (head) =>
        begin(reading, `${head.status} ${head.reason} ${head.versionMinor}`, head.fields, head.keepAlive),
      onData: (chunk) => (last(reading).body += chunk.toString('latin1')),
      onComplete: (trailers) => complete(reading, trailers),
      onFault: (fault) => fail(reading, fault),
    },
    limits,
  );
  parser.expect(requestMethod);
  feed(parser, bytes, cuts, reading, (mayContinue) => {
    if (!mayContinue || parser.upgraded) return true;
    parser.expect(requestMethod);
    return false;
  });
  if (reading.outcome === 'open') parser.end();
  return reading;
}

/** Gives the pieces to the parser; after each message `isLast` says whether the connection ends or arms the parser again. */
function feed(
  parser: Parser,
  bytes: Buffer,
  cuts: readonly number[],
  reading: Reading,
  isLast: (mayContinue: boolean) => boolean,
): void {
  let at = 0;
  for (const to of [...cuts, bytes.length]) {
    while (at < to) {
      at += parser.execute(bytes.subarray(at, to));
      if (parser.faulted) return;
      const ended = parser.complete || parser.upgraded === true;
      if (ended && isLast(last(reading).keepAlive)) {
        reading.outcome = 'stopped';
        reading.rest = bytes.toString('latin1', at);
        return;
      }
      // A parser that leaves bytes without having ended a message would loop here for ever.
      if (!ended && at < to) throw new Error(`${to - at} bytes were left in the middle of a message.`);
    }
  }
}

function emptyReading(): Reading {
  return { messages: [], outcome: 'open', faultCode: '', faultStatus: 0, rest: '' };
}

function begin(reading: Reading, start: string, fields: FieldList, keepAlive: boolean): void {
  reading.messages.push({ start, fields, body: '', trailers: [], keepAlive, complete: false });
}

function last(reading: Reading): ReadMessage {
  return reading.messages.at(-1)!;
}

function complete(reading: Reading, trailers: FieldList): void {
  const message = last(reading);
  message.trailers = trailers;
  message.complete = true;
}

function fail(reading: Reading, fault: { code: string; status: number }): void {
  reading.outcome = 'fault';
  reading.faultCode = fault.code;
  reading.faultStatus = fault.status;
}
