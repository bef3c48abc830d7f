import { util } from 'undici';
import type { FieldList } from '../../http1/message.ts';
import { LayerHead } from '../layer-head.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A response head as undici gave it. */
export class DispatchHead extends LayerHead {
  /** As it came; `undefined` where undici gave parsed ones alone. */
  readonly raw: readonly Buffer[] | undefined;
  /** As undici parses them. */
  readonly headers: Headers;

  constructor(status: number, reason: string, raw: readonly Buffer[] | undefined, headers: Headers | undefined) {
    super(status, reason);
    this.raw = raw;
    this.headers = headers ?? util.parseHeaders([...(raw ?? [])]);
  }

  protected override readFields(): FieldList {
    return this.raw?.map((bytes) => bytes.toString('latin1')) ?? fieldsOf(this.headers);
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
