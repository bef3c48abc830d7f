import { METHODS } from 'node:http';
import type { Reading } from './read-messages.ts';

/** The parts of Node's own parser that we use; it has no public types. */
interface NodeParser {
  initialize(type: number, resource: object, maxHeaderSize: number, lenientFlags: number): void;
  execute(bytes: Buffer): number | NodeParserError;
  finish(): undefined | NodeParserError;
  close(): void;
  [callback: number]: unknown;
}
interface NodeParserError extends Error {
  code: string;
}
interface NodeParserClass {
  new (): NodeParser;
  readonly REQUEST: number;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
  readonly kLenientNone: number;
}

// Node's parser as node:http uses it, without sockets: 10⁵ cases take seconds, not minutes.
// It has no type declarations, so its name must not be a literal here.
const moduleName: string = 'node:_http_common';
const internals: unknown = await import(moduleName);
const { HTTPParser } = internals as { HTTPParser: NodeParserClass };

/** Node reports methods by number, and the numbering differs between its versions: ask it. */
const methodNames: ReadonlyMap<number, string> = new Map(METHODS.map((method) => [methodNumber(method), method]));

function methodNumber(method: string): number {
  const parser = new HTTPParser();
  let number = -1;
  parser.initialize(HTTPParser.REQUEST, {}, 0, HTTPParser.kLenientNone);
  parser[HTTPParser.kOnHeadersComplete] = (_major: number, _minor: number, _fields: string[], methodSeen: number) => {
    number = methodSeen;
    return 0;
  };
  parser.execute(Buffer.from(`${method} ${method === 'CONNECT' ? 'a:1' : '/'} HTTP/1.1\r\nHost: a\r\n\r\n`));
  parser.close();
  return number;
}

export interface NodeReading extends Reading {
  /** Index of the message after which Node leaves the rest to another protocol; −1: none. */
  upgradedAt: number;
}

/** Reads all bytes at once with Node's parser in strict mode, then the end of the stream for responses. */
export function readWithNode(kind: 'request' | 'response', bytes: Buffer, requestMethod: string): NodeReading {
  const reading: NodeReading = {
    messages: [],
    outcome: 'open',
    faultCode: '',
    faultStatus: 0,
    rest: '',
    upgradedAt: -1,
  };
  const parser = new HTTPParser();
  parser.initialize(kind === 'request' ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {}, 65_536, HTTPParser.kLenientNone);
  let fields: string[] = [];
  let url = '';
  parser[HTTPParser.kOnHeaders] = (some: string[], urlPart: string) => {
    fields.push(...some);
    url += urlPart;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    _major: number,
    minor: number,
    some: string[] | undefined,
    method: number | undefined,
    urlPart: string | undefined,
    status: number,
    reason: string,
    upgrade: boolean,
    keepAlive: boolean,
  ) => {
    const target = url + (urlPart ?? '');
    const start =
      kind === 'request' ? `${methodNames.get(method!)} ${target} ${minor}` : `${status} ${reason} ${minor}`;
    reading.messages.push({
      start,
      fields: [...fields, ...(some ?? [])],
      body: '',
      trailers: [],
      keepAlive,
      complete: false,
    });
    fields = [];
    url = '';
    if (kind === 'request') {
      if (upgrade) reading.upgradedAt = reading.messages.length - 1;
      return 0;
    }
    const isTunnel = requestMethod === 'CONNECT' && status >= 200 && status < 300;
    if (isTunnel || (upgrade && status === 101)) reading.upgradedAt = reading.messages.length - 1;
    return isTunnel ? 2 : requestMethod === 'HEAD' ? 1 : 0;
  };
  parser[HTTPParser.kOnBody] = (chunk: Buffer) => {
    reading.messages.at(-1)!.body += chunk.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    const message = reading.messages.at(-1)!;
    message.trailers = fields;
    message.complete = true;
    fields = [];
    // Flushing trailers repeats the target.
    url = '';
  };
  const result = parser.execute(bytes);
  if (result instanceof Error) {
    reading.outcome = 'fault';
    reading.faultCode = result.code;
  } else if (kind === 'response' && reading.upgradedAt === -1) {
    parser.finish();
  }
  parser.close();
  return reading;
}
