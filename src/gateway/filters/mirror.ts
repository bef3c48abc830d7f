import type { Endpoint } from '../../engine/endpoint.ts';
import type { Upstream } from '../../engine/upstream.ts';
import type { FieldList } from '../../http1/message.ts';
import { removeFields } from '../../http1/field-list.ts';
import { bytesBody } from '../../transport/body/bytes-body.ts';
import type { Clock, Timer } from '../../transport/clock.ts';
import type { Attempt, AttemptHandler, AttemptTimeouts } from '../../transport/transport.ts';

/** Where copies of requests go. Nothing that happens there can reach the request or its answer. */
export interface Mirror {
  /** Drawn anew for each request. */
  takes(): boolean;
  send(copy: RequestCopy): void;
}

export interface RequestCopy {
  readonly method: string;
  readonly target: string;
  readonly fields: FieldList;
  /** `undefined`: the request has no body. */
  readonly body: Buffer | undefined;
}

export interface MirrorOptions {
  readonly upstream: Upstream;
  /** 0–1 of the requests. */
  readonly share: number;
  readonly connectMs: number;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** From the copy's first byte to the last of its answer, in milliseconds. */
export const copyLifeMs = 10_000;

const expect: ReadonlySet<string> = new Set(['expect']);

/** Copies are sent once and never again; those that find no endpoint or no permit are dropped. */
export function createMirror({ upstream, share, connectMs, clock, random }: MirrorOptions): Mirror {
  const timeouts: AttemptTimeouts = { connectMs, attemptMs: copyLifeMs, headMs: copyLifeMs, idleMs: copyLifeMs };
  return {
    takes: () => share >= 1 || random() < share,
    send({ method, target, fields, body }) {
      const endpoint = upstream.pick([], clock.nowMs(), random);
      if (endpoint === undefined || !upstream.permits.tryAcquire()) return;
      const handler = new CopyRun(upstream, endpoint, clock);
      const request = {
        method,
        target,
        fields: removeFields(fields, expect),
        body: body === undefined ? undefined : bytesBody(body),
        expectContinueMs: 0,
      };
      handler.attempt = upstream.transport.send(endpoint.address, request, handler, {
        timeouts,
        freshConnection: false,
      });
    },
  };
}

/** Reads the answer to its end, so that the connection can be used again, and throws it away. */
class CopyRun implements AttemptHandler {
  attempt: Attempt | undefined;
  readonly #upstream: Upstream;
  readonly #endpoint: Endpoint;
  readonly #timer: Timer;
  #over = false;

  constructor(upstream: Upstream, endpoint: Endpoint, clock: Clock) {
    this.#upstream = upstream;
    this.#endpoint = endpoint;
    endpoint.inflight += 1;
    this.#timer = clock.setTimer(copyLifeMs, () => {
      this.attempt?.abort();
      this.#end();
    });
    this.#timer.unref();
  }

  onConnected(): void {}
  onInformational(): void {}
  onHead(): void {}
  onData(): boolean {
    return true;
  }
  onComplete(): void {
    this.#end();
  }
  onFailure(): void {
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer.cancel();
    this.#endpoint.inflight -= 1;
    this.#upstream.permits.release();
  }
}
