import { hasField } from '../../http1/field-list.ts';
import type { FieldList } from '../../http1/message.ts';
import { readRequestAttempt } from '../../engine/request-attempt.ts';
import { keyField } from '../call/idempotency-key.ts';
import type { Layer } from '../layer-options.ts';
import type { DispatchBody } from './dispatch-body.ts';
import { readDispatchBody } from './dispatch-body.ts';
import type { HeadersInput } from './header-list.ts';
import { repeatableHeaders, textFields, withFields } from './header-list.ts';
import type { InnerHandler } from './inner-handler.ts';

/** What an interceptor reads of undici's options; everything else passes through. */
export interface InterceptedOptions {
  readonly origin?: string | URL | undefined;
  readonly path: string;
  readonly method: string;
  readonly headers?: HeadersInput;
  readonly body?: unknown;
  readonly upgrade?: boolean | string | null | undefined;
  readonly idempotent?: boolean | undefined;
}

export type Dispatch = (options: InterceptedOptions, handler: object) => boolean;

/** A request as it was given, and how to dispatch it once more. */
export class InterceptedRequest {
  readonly method: string;
  readonly url: URL;
  /** It carries a key, its own or one made here. */
  readonly keyed: boolean;
  /** undici's own word for it. */
  readonly repeatable: boolean | undefined;
  /** Retries that were made above. */
  readonly lineage: number;
  readonly body: DispatchBody;
  readonly #options: InterceptedOptions;
  readonly #headers: HeadersInput;
  readonly #dispatch: Dispatch;

  /** @param home stands for the origin of a dispatcher that has one of its own */
  constructor(options: InterceptedOptions, dispatch: Dispatch, layer: Layer, home: string) {
    this.#dispatch = dispatch;
    this.method = options.method;
    this.url = urlOf(options, home);
    const headers = repeatableHeaders(options.headers);
    const fields = textFields(headers);
    const hasKey = hasField(fields, 'idempotency-key');
    const key = hasKey ? [] : keyField(layer.idempotencyKey, options.method);
    this.keyed = hasKey || key.length > 0;
    this.repeatable = options.idempotent;
    this.lineage = readRequestAttempt(fields)?.lineage ?? 0;
    this.body = readDispatchBody(options.body, layer);
    this.#options = options;
    this.#headers = withFields(headers, key);
  }

  /** @param fields What this attempt says of itself. */
  dispatch(fields: FieldList, handler: InnerHandler): boolean {
    const headers = withFields(this.#headers, fields);
    // With `idempotent` undici would pipeline it behind another request, and send it again by itself when that breaks.
    return this.#dispatch({ ...this.#options, headers, idempotent: false, body: this.body.next() }, handler);
  }
}

function urlOf({ origin, path }: InterceptedOptions, home: string): URL {
  const base = origin === undefined ? home : String(origin);
  return URL.parse(path, base) ?? new URL(home);
}
