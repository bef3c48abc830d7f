import { hasField, removeFields } from '../../http1/field-list.ts';
import type { FieldList, ResponseHead } from '../../http1/message.ts';
import type { TunnelEnd } from '../../transport/tunnel-end.ts';
import type { Downstream, ResponseFraming } from '../downstream.ts';
import { renderErrorResponse } from '../error-response.ts';
import type { AnswerStory, ErrorResponse } from '../error-response.ts';
import type { LocalAnswer } from '../phases.ts';
import { statusTitle } from '../status-title.ts';
import { joinEnds } from './tunnel.ts';
import type { TunnelTraffic } from './tunnel.ts';

const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-type',
  'transfer-encoding',
  'trailer',
]);
const TRAILER_FIELD: ReadonlySet<string> = new Set(['trailer']);

/**
 * What the client is sent: one head, then its body. A head that cannot be written safely (a filter put a line break into
 * it) throws before anything is sent, so that another answer is still possible.
 */
export class ExchangeAnswer {
  headSent = false;
  /** 0 until there is one. */
  status = 0;
  #bodyBytes = 0;
  #traffic: TunnelTraffic | undefined;
  readonly #downstream: Downstream;

  constructor(downstream: Downstream) {
    this.#downstream = downstream;
  }

  /** Of the body, or through the tunnel. */
  get bytesOut(): number {
    return this.#traffic?.bytesOut ?? this.#bodyBytes;
  }

  /** What the client said in a tunnel. */
  get tunnelBytesIn(): number {
    return this.#traffic?.bytesIn ?? 0;
  }

  /** What a filter answers itself. @throws UnsafeHeadError */
  local({ status, fields, body }: LocalAnswer): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body ?? []);
    this.#whole(status, statusTitle(status), [...(fields ?? [])], bytes);
  }

  /** @throws UnsafeHeadError */
  error(answer: ErrorResponse, story: AnswerStory): void {
    const { fields, body } = renderErrorResponse(answer, story);
    this.#whole(answer.status, answer.title, fields, body);
  }

  #whole(status: number, reason: string, fields: FieldList, body: Buffer): void {
    const bodiless = status === 204 || status === 304;
    const silent = bodiless || this.#downstream.method === 'HEAD';
    this.#begin(status, reason, bodiless ? removeFields(fields, CONTENT_FIELDS) : fields, {
      kind: silent ? 'none' : 'length',
      length: bodiless ? -1 : body.length,
    });
    if (!silent && body.length > 0) this.data(body);
    this.#downstream.end([]);
  }

  /**
   * The head of a response; its body follows by `data` and `end`.
   * @param isFiltered User code may make the body longer or shorter: its length is not known before.
   * @throws UnsafeHeadError
   */
  head(status: number, reason: string, fields: FieldList, head: ResponseHead, isFiltered: boolean): void {
    const noTrailers = this.#downstream.protocol === '1.0' || head.bodyKind !== 'chunked';
    const framing = isFiltered ? filteredFraming(head) : framingOf(head);
    const isPromised = noTrailers && hasField(fields, 'trailer');
    this.#begin(status, reason, isPromised ? removeFields(fields, TRAILER_FIELD) : fields, framing);
  }

  /** From here on bytes go both ways as they are. @throws UnsafeHeadError */
  tunnel(status: 101 | 200, reason: string, fields: FieldList, upstream: TunnelEnd): void {
    const client = this.#downstream.openTunnel?.(status, reason, fields);
    // Only a listener that has tunnels brings requests that ask for one.
    if (client === undefined) throw new TypeError('this listener has no tunnels');
    this.headSent = true;
    this.status = status;
    this.#traffic = joinEnds(client, upstream);
  }

  /** Returns false when the client is slower than the upstream. */
  data(chunk: Buffer): boolean {
    this.#bodyBytes += chunk.length;
    return this.#downstream.write(chunk);
  }

  #begin(status: number, reason: string, fields: FieldList, framing: ResponseFraming): void {
    this.#downstream.respond(status, reason, fields, framing);
    this.headSent = true;
    this.status = status;
  }
}

function framingOf(head: ResponseHead): ResponseFraming {
  switch (head.bodyKind) {
    case 'none':
      return { kind: 'none', length: head.status === 204 ? -1 : head.contentLength };
    case 'length':
      return { kind: 'length', length: head.contentLength };
    case 'chunked':
    case 'until-close':
      return { kind: 'stream', length: -1 };
  }
}

/** No length can be promised, not even that of a body that HEAD or 304 leaves out: GET would be answered without one. */
function filteredFraming(head: ResponseHead): ResponseFraming {
  return { kind: head.bodyKind === 'none' ? 'none' : 'stream', length: -1 };
}
