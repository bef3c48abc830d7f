import { encodeChunked, encodeFields, fieldPairs, hasField, type FieldsInput } from './fields.ts';

export interface RequestInput {
  /** Default GET. */
  readonly method?: string;
  /** Default `/`. */
  readonly target?: string;
  /** Default `HTTP/1.1`. */
  readonly version?: string;
  /** `Host: test.example` is added when there is no Host. */
  readonly headers?: FieldsInput;
  /** A string or Buffer gets a Content-Length; a list is sent chunked, one chunk each. */
  readonly body?: string | Buffer | readonly Buffer[];
  readonly trailers?: FieldsInput;
}

export function formatRequest(request: RequestInput): Buffer {
  const pairs = fieldPairs(request.headers);
  if (!hasField(pairs, 'host') && request.version !== 'HTTP/1.0') pairs.unshift(['Host', 'test.example']);
  let body: Buffer = Buffer.alloc(0);
  if (typeof request.body === 'string' || Buffer.isBuffer(request.body)) {
    body = Buffer.from(request.body as string);
    if (!hasField(pairs, 'content-length')) pairs.push(['Content-Length', String(body.length)]);
  } else if (request.body !== undefined) {
    body = encodeChunked(request.body, request.trailers);
    if (!hasField(pairs, 'transfer-encoding')) pairs.push(['Transfer-Encoding', 'chunked']);
  }
  const line = `${request.method ?? 'GET'} ${request.target ?? '/'} ${request.version ?? 'HTTP/1.1'}\r\n`;
  return Buffer.concat([Buffer.from(`${line}${encodeFields(pairs)}\r\n`, 'latin1'), body]);
}
