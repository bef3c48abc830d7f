import { fieldValues } from './fields.ts';
import type { Framing } from './message-reader.ts';

export interface RawHead {
  readonly status: number;
  readonly reason: string;
  readonly version: string;
  /** Flat, in order, names as received. */
  readonly fields: readonly string[];
}

export interface RawResponse extends RawHead {
  /** 0 when the connection ended before a whole final head. */
  readonly status: number;
  readonly framing: Framing['kind'] | undefined;
  /** The body without its framing, as far as it came. */
  readonly body: Buffer;
  readonly text: string;
  readonly trailers: readonly string[];
  /** The message came to its proper end. False means that the client can see that it was cut. */
  readonly complete: boolean;
  /** How the connection ended, if that is what ended the message. */
  readonly ending: 'fin' | 'reset' | undefined;
  /** What made the bytes illegal HTTP. */
  readonly fault: string | undefined;
  /** 1xx heads that came before it. */
  readonly interim: readonly RawHead[];
  values(name: string): string[];
  value(name: string): string | undefined;
}

/** Filled in by the reader as the bytes come. */
export class ResponseEntry implements RawResponse {
  status = 0;
  reason = '';
  version = '';
  fields: readonly string[] = [];
  framing: Framing['kind'] | undefined;
  trailers: readonly string[] = [];
  complete = false;
  ending: 'fin' | 'reset' | undefined;
  fault: string | undefined;
  interim: readonly RawHead[] = [];
  readonly chunks: Buffer[] = [];

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }
  get text(): string {
    return this.body.toString('utf8');
  }
  values(name: string): string[] {
    return fieldValues(this.fields, name);
  }
  value(name: string): string | undefined {
    return this.values(name)[0];
  }
}

/** How long the body is (RFC 9112 §6.3); what must not be said about it becomes the fault of the response. */
export function responseFraming(entry: ResponseEntry, method: string): Framing {
  const codings = entry.values('transfer-encoding');
  const lengths = entry.values('content-length');
  if (codings.length > 0 && lengths.length > 0) entry.fault = 'both Content-Length and Transfer-Encoding';
  if (lengths.length > 1 || (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0]!)))
    entry.fault = `Content-Length: ${lengths.join(', ')}`;
  if (codings.length > 1 || (codings.length === 1 && codings[0]!.toLowerCase() !== 'chunked'))
    entry.fault = `Transfer-Encoding: ${codings.join(', ')}`;
  if (codings.length > 0 && entry.version === 'HTTP/1.0') entry.fault = 'Transfer-Encoding in an HTTP/1.0 response';
  if ((entry.status === 204 || entry.status === 101) && (codings.length > 0 || lengths.length > 0))
    entry.fault = `a ${entry.status} with framing fields`;
  if (method === 'HEAD' || entry.status === 204 || entry.status === 304 || entry.status === 101)
    return { kind: 'none' };
  if (codings.length > 0) return { kind: 'chunked' };
  if (lengths.length > 0) return { kind: 'length', bytes: Number(lengths[0]) || 0 };
  return { kind: 'until-close' };
}
