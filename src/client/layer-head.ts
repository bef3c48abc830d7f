import type { FieldList, ResponseHead } from '../http1/message.ts';

/** A response head of another client, in the terms of ours. Framing and connection are that client's affair. */
export abstract class LayerHead implements ResponseHead {
  readonly versionMinor = 1;
  readonly bodyKind = 'none';
  readonly contentLength = -1;
  readonly keepAlive = true;
  readonly keepAliveTimeoutMs = -1;
  readonly status: number;
  readonly reason: string;
  #fields: FieldList | undefined;

  constructor(status: number, reason: string) {
    this.status = status;
    this.reason = reason;
  }

  /** Of a success nobody reads them: they are made for who asks. */
  get fields(): FieldList {
    this.#fields ??= this.readFields();
    return this.#fields;
  }

  protected abstract readFields(): FieldList;
}
