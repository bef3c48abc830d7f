import { stringify } from 'node:querystring';
import { errors } from 'undici';
import type { Dispatcher } from 'undici';
import type { FieldList } from '../http1/message.ts';
import type { CallOptions } from './options.ts';

/** What `dispatch` takes: undici's options, and those of a call. */
export type DispatchOptions = Omit<Dispatcher.DispatchOptions, 'body'> &
  CallOptions & { readonly body?: unknown; readonly dispatcher?: unknown; readonly servername?: unknown };

/** A request read from the options of a dispatch, before anything of it was sent. */
export interface DispatchRequest {
  readonly method: string;
  /** With the query, as it goes into the request line. */
  readonly target: string;
  /** End-to-end fields without Host, in the order given. */
  readonly fields: FieldList;
  /** The Host that the caller wants in place of the origin's. */
  readonly host: string | undefined;
  /** As the caller declared it. */
  readonly contentLength: number | undefined;
  readonly expectsContinue: boolean;
}

/** @throws InvalidArgumentError for what undici refuses too, NotSupportedError for an option that would change nothing */
export function readDispatchRequest(options: DispatchOptions): DispatchRequest {
  const { path, method, query } = options;
  if (typeof path !== 'string') throw invalid('path must be a string');
  if (!path.startsWith('/') && !path.startsWith('http://') && !path.startsWith('https://') && path !== '*')
    throw invalid('path must be an absolute URL or start with a slash');
  if (/[^\u0021-\u00ff]/.test(path)) throw invalid('invalid request path');
  if (typeof method !== 'string' || method === '') throw invalid('method must be a string');
  if (options.reset === true) throw unsupported('reset: a connection is closed when its server says so or it idled');
  if (options.servername !== undefined)
    throw unsupported("servername: it is the origin's, or tls.serverName of the client");
  if (options.typeOfService !== undefined && options.typeOfService !== null) throw unsupported('typeOfService');
  requireTimeout('headersTimeout', options.headersTimeout);
  requireTimeout('bodyTimeout', options.bodyTimeout);
  const target = query === undefined || query === null ? path : withQuery(path, query);
  const request = new ReadRequest(method, target, options.expectContinue === true);
  readHeaders(options.headers, request);
  return request;
}

/** All shapes that undici takes: a flat list, an iterable of pairs, an object with single or repeated values. */
function readHeaders(headers: unknown, reader: ReadRequest): void {
  if (headers === undefined || headers === null) return;
  if (typeof headers !== 'object') throw invalid('headers must be an object or an array');
  if (Array.isArray(headers)) {
    if (headers.length % 2 !== 0) throw invalid('headers array must be even');
    for (let i = 0; i < headers.length; i += 2) reader.add(String(headers[i]), headers[i + 1]);
  } else if (Symbol.iterator in headers) {
    for (const pair of headers as Iterable<unknown>) {
      if (!Array.isArray(pair) || pair.length !== 2) throw invalid('headers must be in key-value pair format');
      reader.add(String(pair[0]), pair[1]);
    }
  } else {
    for (const name of Object.keys(headers)) reader.add(name, (headers as Record<string, unknown>)[name]);
  }
}

class ReadRequest implements DispatchRequest {
  readonly method: string;
  readonly target: string;
  readonly fields: FieldList = [];
  host: string | undefined;
  contentLength: number | undefined;
  expectsContinue: boolean;

  constructor(method: string, target: string, expectsContinue: boolean) {
    this.method = method;
    this.target = target;
    this.expectsContinue = expectsContinue;
  }

  add(name: string, value: unknown): void {
    if (value === undefined) return;
    if (Array.isArray(value)) {
      for (const one of value) this.#addText(name, textOf(name, one));
    } else this.#addText(name, textOf(name, value));
  }

  #addText(name: string, value: string): void {
    switch (name.length > 17 ? name : name.toLowerCase()) {
      case 'host':
        if (this.host !== undefined) throw invalid('duplicate host header');
        this.host = value;
        return;
      case 'content-length':
        if (this.contentLength !== undefined) throw invalid('duplicate content-length header');
        if (!/^\d+$/.test(value)) throw invalid('invalid content-length header');
        this.contentLength = Number(value);
        return;
      case 'transfer-encoding':
      case 'keep-alive':
      case 'upgrade':
        throw invalid(`invalid ${name} header`);
      case 'connection':
        // The connection is not the caller's: `keep-alive` is what happens anyway.
        if (value.toLowerCase() !== 'keep-alive') throw unsupported('the connection header, other than keep-alive');
        return;
      case 'expect':
        if (value.toLowerCase() !== '100-continue') throw unsupported('an expect header other than 100-continue');
        this.expectsContinue = true;
        return;
      default:
        this.fields.push(name, value);
    }
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  throw invalid(`invalid ${name} header`);
}

function withQuery(path: string, query: Record<string, unknown>): string {
  if (path.includes('?') || path.includes('#'))
    throw invalid('Query params cannot be passed when url already contains "?" or "#".');
  const text = stringify(query as Record<string, string>);
  return text === '' ? path : `${path}?${text}`;
}

function requireTimeout(name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw invalid(`invalid ${name}`);
}

function invalid(message: string): Error {
  return new errors.InvalidArgumentError(message);
}

function unsupported(what: string): Error {
  return new errors.NotSupportedError(`not supported: ${what}`);
}
