import type { Failure } from '../core/failure.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { Clock, Timer } from '../transport/clock.ts';
import type { Attempt, AttemptHandler, AttemptRequest, ConnectionInfo, SendOptions } from '../transport/transport.ts';
import type { TunnelEnd } from '../transport/tunnel-end.ts';
import type { ResponseFacts } from '../core/outcome.ts';
import type { Admission } from './admission.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { recordConnection, recordFailure } from './attempt-record.ts';
import type { AttemptReport } from './attempt-report.ts';
import type { Endpoint } from './endpoint.ts';
import type { KeptResponse } from './kept-response.ts';
import { KEPT_RESPONSE_MS, keepChunk, keepResponse } from './kept-response.ts';
import { HeldCalls } from './held-calls.ts';
import { isUnreachable } from './failures.ts';
import { isPromise } from './ask.ts';
import type { RunHost } from './run-host.ts';
import type { Upstream } from './upstream.ts';

/** What an attempt reports to the run it belongs to. */
export interface AttemptOwner {
  readonly clock: Clock;
  readonly host: RunHost;
  attemptInformational(head: ResponseHead): void;
  attemptResponded(attempt: AttemptRun, head: ResponseHead): void;
  attemptFailed(attempt: AttemptRun, failure: Failure): void;
  /** The delivered response is whole, or broke off; the host is told next. */
  deliveryEnded(isWhole: boolean): void;
  readonly hookFailed: (error: unknown) => void;
}

/**
 * One send: holds its permit and its place in the endpoint's load until the response ended, and takes the response
 * either to the host (`deliver`) or aside (`keep`).
 */
export class AttemptRun implements AttemptHandler {
  readonly upstream: Upstream;
  readonly record: AttemptRecord;
  readonly endpoint: Endpoint;
  peerAddress: string | undefined = undefined;
  holdsPermit = true;

  readonly #owner: AttemptOwner;
  readonly #report: AttemptReport | undefined;
  readonly startedAtMs: number;
  #mode: 'pending' | 'deliver' | 'keep' | 'over' = 'pending';
  #transport: Attempt | undefined;
  /** The answer is a 101. */
  #tunnel: TunnelEnd | undefined;
  #kept: KeptResponse | undefined;
  #keepTimer: Timer | undefined;
  #keptListener: (() => void) | undefined;
  /** What arrived while the host was still thinking about the head. */
  readonly #held = new HeldCalls();

  constructor(owner: AttemptOwner, admission: Admission, record: AttemptRecord, nowMs: number) {
    this.#owner = owner;
    this.upstream = admission.upstream;
    this.endpoint = admission.endpoint;
    this.#report = admission.report;
    this.record = record;
    this.startedAtMs = nowMs;
  }

  get over(): boolean {
    return this.#mode === 'over';
  }

  get bytesSent(): number {
    return this.#transport?.bytesSent ?? 0;
  }

  get bytesReceived(): number {
    return this.#transport?.bytesReceived ?? 0;
  }

  send(request: AttemptRequest, options: SendOptions): void {
    try {
      this.#transport = this.upstream.transport.send(this.endpoint.address, request, this, options);
    } catch (error) {
      // Only a request that cannot be written safely throws: a filter put a line break into it, or took Host away.
      this.#owner.hookFailed(error);
      return;
    }
    if (this.#mode === 'over') this.#transport.abort();
  }

  resume(): void {
    if (!this.#held.isHolding) this.#transport?.resume();
  }

  abort(): void {
    if (this.#mode === 'over') return;
    this.#end();
    this.#transport?.abort();
  }

  /** Its time is over. `isItsFault`: it had enough of it to count against the endpoint. */
  expire(failure: Failure, isItsFault: boolean): void {
    if (this.#mode === 'over') return;
    recordFailure(this.record, failure);
    if (isItsFault) this.#report?.failed(failure, this.#owner.clock.nowMs());
    this.abort();
  }

  /** What its response head says of the endpoint. */
  answered(facts: ResponseFacts, nowMs: number): void {
    this.#report?.answered(facts, nowMs);
  }

  /** The head goes to the host, the body after it. */
  deliver(head: ResponseHead): void {
    this.#mode = 'deliver';
    let answer: void | Promise<void>;
    try {
      const { host } = this.#owner;
      answer = this.#tunnel === undefined ? host.onResponse(head) : host.onTunnel?.(head, this.#tunnel);
    } catch (error) {
      this.#owner.hookFailed(error);
      return;
    }
    if (!isPromise(answer)) return;
    this.#held.hold();
    answer.then(
      () => this.#releaseHeld(),
      (error: unknown) => this.#owner.hookFailed(error),
    );
  }

  /** The response is read to its end, within bounds, and kept. */
  keep(head: ResponseHead): KeptResponse {
    this.#mode = 'keep';
    this.#kept = keepResponse(head);
    this.#keepTimer = this.#owner.clock.setTimer(KEPT_RESPONSE_MS, () => this.#giveUpKeeping());
    return this.#kept;
  }

  /** Calls `listener` when the kept response ended; returns true, without calling it, when there is nothing to wait for. */
  whenKept(listener: () => void): boolean {
    if (this.#mode !== 'keep') return true;
    this.#keptListener = listener;
    return false;
  }

  // --- AttemptHandler ----------------------------------------------------------------------------------------------

  onConnected(info: ConnectionInfo): void | Promise<void> {
    recordConnection(this.record, info);
    // A proxy on the way is not the endpoint: what it is trusted with is another matter.
    const leadsThere = info.endpoint.key === this.endpoint.address.key;
    this.peerAddress = leadsThere && info.remoteAddress !== '' ? info.remoteAddress : undefined;
    this.endpoint.cooldown.connected();
    return this.#owner.host.onConnected(info);
  }

  onInformational(head: ResponseHead): void {
    this.#owner.attemptInformational(head);
  }

  onHead(head: ResponseHead): void {
    this.#owner.attemptResponded(this, head);
  }

  onTunnel(head: ResponseHead, tunnel: TunnelEnd): void {
    this.#tunnel = tunnel;
    // How long peers have something to say to each other, and how they part, says nothing of the endpoint.
    const nowMs = this.#owner.clock.nowMs();
    this.#report?.completed(nowMs);
    this.#took(nowMs);
    this.#owner.attemptResponded(this, head);
  }

  onData(chunk: Buffer): boolean {
    if (this.#mode === 'deliver') {
      if (!this.#held.isHolding) return this.#owner.host.onData(chunk);
      this.#held.make(() => void this.#owner.host.onData(chunk));
      return false;
    }
    if (this.#mode === 'keep' && !keepChunk(this.#kept!, chunk)) this.#giveUpKeeping();
    return true;
  }

  onComplete(trailers: FieldList): void {
    if (this.#mode === 'keep') {
      this.#kept!.trailers = trailers;
      this.#kept!.complete = true;
      return this.#end();
    }
    if (this.#mode !== 'deliver') return;
    this.#report?.completed(this.#owner.clock.nowMs());
    this.#held.make(() => {
      this.#end();
      this.#owner.deliveryEnded(true);
      this.#owner.host.onComplete(trailers);
    });
  }

  onFailure(failure: Failure): void {
    this.#report?.failed(failure, this.#owner.clock.nowMs());
    switch (this.#mode) {
      case 'pending':
        if (isUnreachable(failure)) this.endpoint.cooldown.failed(this.#owner.clock.nowMs());
        this.#end();
        return this.#owner.attemptFailed(this, failure);
      case 'deliver':
        return this.#held.make(() => {
          this.#end();
          this.#owner.deliveryEnded(false);
          this.#owner.host.onTruncated(failure);
        });
      case 'keep':
        return this.#end();
      case 'over':
    }
  }

  // -----------------------------------------------------------------------------------------------------------------

  #releaseHeld(): void {
    const waiting = this.#held.release();
    if (this.#mode === 'over') return;
    for (const call of waiting) call();
    this.#transport?.resume();
  }

  #took(nowMs: number): void {
    this.record.durationMs = Math.round((nowMs - this.startedAtMs) * 100) / 100;
  }

  #giveUpKeeping(): void {
    if (this.#mode !== 'keep') return;
    this.#transport?.abort();
    this.#end();
  }

  #end(): void {
    if (this.#mode === 'over') return;
    this.#mode = 'over';
    this.#keepTimer?.cancel();
    const nowMs = this.#owner.clock.nowMs();
    if (this.#tunnel === undefined) this.#took(nowMs);
    this.#report?.abandoned(nowMs);
    this.holdsPermit = false;
    this.upstream.permits.release();
    this.endpoint.inflight -= 1;
    const listener = this.#keptListener;
    this.#keptListener = undefined;
    listener?.();
  }
}
