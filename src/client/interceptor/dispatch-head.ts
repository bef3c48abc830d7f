import { util } from 'undici';
import type { FieldList, ResponseHead } from '../../http1/message.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A response head as undici gave it. */
export class DispatchHead implements ResponseHead {
  readonly versionMinor = 1;
  readonly bodyKind = 'none';
  readonly contentLength = -1;
  readonly keepAlive = true;
  readonly keepAliveTimeoutMs = -1;
  readonly status: number;
  readonly reason: string;
  /** As it came; `undefined` where undici gave parsed ones alone. */
  readonly raw: readonly Buffer[] | undefined;
  /** As undici parses them. */
  readonly headers: Headers;
  #fields: FieldList | undefined;

  constructor(status: number, reason: string, raw: readonly Buffer[] | undefined, headers: Headers | undefined) {
    this.status = status;
    this.reason = reason;
    this.raw = raw;
    this.headers = headers ?? util.parseHeaders([...(raw ?? [])]);
  }

  /** Of a success nobody reads them. */
  get fields(): FieldList {
    this.#fields ??= this.raw?.map((bytes) => bytes.toString('latin1')) ?? fieldsOf(this.headers);
    return this.#fields;
  }
}

export function fieldsOf(headers: Headers): FieldList {
  const fields: FieldList = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) fields.push(name, one);
  }
  return fields;
}
