import { isRetrySuppressed } from '../core/decision.ts';
import { suspicionOf } from '../core/ownership/claim-suspicion.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import { isOwnershipFailure, type EdgeClass, type Outbound, type OutboundEnding } from '../core/ownership/outbound.ts';
import type { OwnershipMode } from '../core/retry-policy.ts';
import { hasErrorClaim, readErrorClaim } from '../engine/error-claim.ts';
import type { AttemptNote, TrackedCall } from '../engine/outbound-tracking.ts';
import type { FieldList } from '../http1/message.ts';
import { standsFor } from './cause-chain.ts';
import type { EdgeCounters } from './counters.ts';
import type { InboundRequest } from './inbound-request.ts';

/** What a call needs of the service that it is made in. */
export interface CallHost {
  readonly marginMs: number;
  nowMs(): number;
  edgeClass(inbound: string, callee: string, nowMs: number): EdgeClass;
  trusts(host: string, address: string | undefined): boolean;
  attempting<Result>(call: ServiceCall, send: () => Result): Result;
}

export interface CallStart {
  readonly operation: string;
  readonly target: string;
  readonly host: string;
  /** Retries of the same thing before it, made by a loop that is not ours. */
  readonly repeatCount: number;
  /** What it repeats had been relayed by its callee. */
  readonly repeatsRelayed: boolean;
  readonly edge: EdgeClass | undefined;
  readonly mode: OwnershipMode;
  /** Its suppressed retry is let through, to see whether it helps. */
  readonly probe: boolean;
}

/** One call made by the service: for the attribution an outbound, for who makes it the one to tell of it. */
export class ServiceCall implements Outbound, TrackedCall {
  readonly operation: string;
  readonly target: string;
  readonly startedAtMs: number;
  readonly mode: OwnershipMode;
  readonly repeatCount: number;
  ending: OutboundEnding | undefined = undefined;
  covered = false;
  causal = false;
  /** Who makes it sent it again. */
  retried = false;
  /** A callee relayed: a layer of retries below had its turn. */
  relayedBelow = false;
  /** Where the last attempt went, as a hook saw it: a layer around `fetch` does not know. */
  peerAddress: string | undefined = undefined;
  readonly #host: CallHost;
  readonly #inbound: InboundRequest | undefined;
  readonly #hostName: string;
  readonly #declared: EdgeClass | undefined;
  readonly #counters: EdgeCounters;
  readonly #probe: boolean;
  #probed = false;
  #retriedRelayed: boolean;

  constructor(host: CallHost, inbound: InboundRequest | undefined, start: CallStart, counters: EdgeCounters) {
    this.#host = host;
    this.#inbound = inbound;
    this.operation = start.operation;
    this.target = start.target;
    this.#hostName = start.host;
    this.repeatCount = start.repeatCount;
    this.#declared = start.edge;
    this.mode = start.mode;
    this.#probe = start.probe;
    this.#counters = counters;
    this.#retriedRelayed = start.repeatsRelayed;
    this.startedAtMs = host.nowMs();
  }

  get edge(): EdgeClass {
    if (this.#declared !== undefined) return this.#declared;
    const inbound = this.#inbound;
    return inbound === undefined
      ? 'unknown'
      : this.#host.edgeClass(inbound.operation, this.operation, this.#host.nowMs());
  }

  get lineage(): number {
    return this.#inbound?.lineage ?? 0;
  }

  get deadlineAtMs(): number {
    return this.#inbound?.deadlineAtMs ?? Infinity;
  }

  get marginMs(): number {
    return this.#host.marginMs;
  }

  readClaim(fields: FieldList, peerAddress: string | undefined): ErrorClaim | undefined {
    if (this.mode === 'off') return undefined;
    if (!this.#host.trusts(this.#hostName, peerAddress ?? this.peerAddress)) {
      if (hasErrorClaim(fields)) this.#counters.claimsIn.untrusted += 1;
      return undefined;
    }
    const { claim, fault } = readErrorClaim(fields);
    if (fault !== undefined) this.#counters.claimsIn.garbled += 1;
    return claim;
  }

  attempt<Result>(send: () => Result): Result {
    return this.#host.attempting(this, send);
  }

  note({ claim, retried, stopped }: AttemptNote): void {
    const counters = this.#counters;
    if (retried || stopped !== 'success') this.#countClaim(claim);
    if (retried) {
      counters.retryCount += 1;
      this.retried = true;
      if (claim?.claim !== 'relayed') return;
      this.#retriedRelayed = true;
      if (this.#probe) this.#probed = true;
      else counters.unsuppressedCount += 1;
    } else if (stopped !== undefined && isRetrySuppressed(stopped)) {
      counters.suppressed[stopped] = (counters.suppressed[stopped] ?? 0) + 1;
    }
  }

  #countClaim(claim: ErrorClaim | undefined): void {
    const counters = this.#counters;
    counters.claimsIn[claim?.claim ?? 'absent'] += 1;
    if (claim === undefined) return;
    if (claim.claim === 'relayed') this.relayedBelow = true;
    const suspicion = suspicionOf(claim);
    if (suspicion !== undefined) counters.wrongClaims[suspicion] += 1;
  }

  end(ending: OutboundEnding): void {
    if (this.ending !== undefined) return;
    const failed = isOwnershipFailure(ending.outcomeClass);
    this.#state(ending, failed);
    this.#counters.callCount += 1;
    if (failed) this.#counters.failedCount += 1;
    if (this.#retriedRelayed && ending.outcomeClass === 'ok') this.#counters.wrongClaims.retryHelped += 1;
    if (!this.#probed) return;
    this.#counters.probeCount += 1;
    if (!failed) this.#counters.missedRetryCount += 1;
  }

  /** What was told of its end was not the end: an answer broke off, or another connection brought one after all. */
  restate(ending: OutboundEnding): void {
    if (this.ending === undefined) {
      this.end(ending);
      return;
    }
    if (ending.outcomeClass === 'cancelled') return;
    const failedBefore = isOwnershipFailure(this.ending.outcomeClass);
    const failed = isOwnershipFailure(ending.outcomeClass);
    this.#state(ending, failed);
    this.#counters.failedCount += Number(failed) - Number(failedBefore);
  }

  /** A loop that gave up has used up its attempts, whoever wrote it. */
  #state(ending: OutboundEnding, failed: boolean): void {
    this.ending = this.repeatCount > 0 && failed && !ending.handled ? { ...ending, handled: true } : ending;
  }

  caused(error: unknown): void {
    standsFor(error, this);
  }

  /** A loop of the application's own repeats the call, whatever its callee said. */
  repeated(): void {
    this.#counters.retryCount += 1;
    if (this.ending?.claim?.claim === 'relayed') this.#counters.unsuppressedCount += 1;
  }
}
