import type { FieldList, ResponseHead } from '../../http1/message.ts';
import type { TunnelEnd } from '../../transport/tunnel-end.ts';
import type { ErrorResponse } from '../error-response.ts';
import type { HookLimit } from './hook-call.ts';
import type { Exchange, MutableResponse } from '../phases.ts';

/** An exchange as whoever asks upstreams for it knows it: what can be said to its client. After its end all say nothing. */
export interface ClientSide<Context> extends Exchange<Context>, HookLimit {
  /** The client has its answer, or is gone. */
  readonly ended: boolean;
  /** The client has a final head, or is gone. */
  readonly answered: boolean;
  /** @param isFiltered User code may make the body longer or shorter. */
  sendHead(response: MutableResponse, head: ResponseHead, isFiltered: boolean): void;
  openTunnel(status: 101 | 200, reason: string, fields: FieldList, upstream: TunnelEnd): void;
  /** Returns false when the client is slower than the upstream. */
  data(chunk: Buffer): boolean;
  complete(trailers: FieldList): void;
  /** An answer made here. */
  answerError(answer: ErrorResponse): void;
  /** User code threw. */
  thrown(error: unknown): void;
  /** An answer that began cannot be completed: the client must see that. */
  truncate(): void;
  gone(): void;
  finish(): void;
}
