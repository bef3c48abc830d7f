import type { Endpoint } from '../engine/endpoint.ts';
import { hasField } from '../http1/field-list.ts';
import type { FieldList } from '../http1/message.ts';
import type { RequestBody } from '../transport/body/request-body.ts';
import type { AttemptRequest } from '../transport/transport.ts';
import type { CallBody } from './call-body.ts';
import { readBody } from './call-body.ts';
import { idempotencyKeyFor } from './call-rules.ts';
import type { ClientState } from './client-state.ts';
import type { RequestHandler } from './dispatch-handler.ts';
import type { RequestPlan } from './run-plan.ts';
import { watchedBody } from './watched-body.ts';

/** Milliseconds the body is held back for a 100 before it is sent all the same (RFC 9110 §10.1.1). */
const EXPECT_CONTINUE_MS = 1_000;

/** The message of a request, the same in each attempt but for the Host of another origin. */
export class OutgoingRequest {
  body: RequestBody | undefined;
  readonly #plan: RequestPlan;
  readonly #client: ClientState;
  #fields: FieldList;
  #callBody: CallBody | undefined;

  constructor(plan: RequestPlan, client: ClientState) {
    this.#plan = plan;
    this.#client = client;
    this.#fields = plan.request.fields;
  }

  get isKeyed(): boolean {
    return hasField(this.#fields, 'idempotency-key');
  }

  /**
   * Makes the body and the key. Nothing is read of a stream before an attempt sends it.
   * @param failed The caller's own body broke.
   * @throws what is wrong with body or key
   */
  prepare(failed: (error: unknown) => void): void | Promise<void> {
    const { request, options, rules } = this.#plan;
    const { method, contentLength } = request;
    const { replayBufferBytes: capBytes, replayMemory: memory } = this.#client;
    const body = readBody(options.body, { method, contentLength, capBytes, memory, failed });
    const key = this.isKeyed ? undefined : idempotencyKeyFor(method, rules.idempotencyKey);
    if (key !== undefined) this.#fields = [...this.#fields, 'Idempotency-Key', key];
    if (body instanceof Promise) return body.then((read) => this.#take(read));
    this.#take(body);
  }

  #take(callBody: CallBody): void {
    this.#callBody = callBody;
    this.body = callBody.body;
    const { contentType } = callBody;
    if (contentType !== undefined && !hasField(this.#fields, 'content-type'))
      this.#fields = [...this.#fields, 'Content-Type', contentType];
  }

  /** Tells the handler of the bytes that go out, where it wants to know. */
  watch(handler: RequestHandler, threw: (error: unknown) => void): void {
    if (this.body !== undefined) this.body = watchedBody(this.body, handler, threw);
  }

  attempt(endpoint: Endpoint): AttemptRequest {
    const { method, target, host, expectsContinue } = this.#plan.request;
    const { body } = this;
    const expects = expectsContinue && body !== undefined;
    const fields = ['Host', host ?? endpoint.authority, ...this.#fields];
    if (expects) fields.push('Expect', '100-continue');
    return { method, target, fields, body, expectContinueMs: expects ? EXPECT_CONTINUE_MS : 0 };
  }

  /** Nobody will send it any more. */
  stop(): void {
    this.body?.destroy();
    this.#callBody?.stop();
  }
}
