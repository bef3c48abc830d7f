import { AsyncLocalStorage } from 'node:async_hooks';
import { createTrust, type Trust } from '../config/trust.ts';
import type { OutcomeClass } from '../core/classify.ts';
import { attribute, type Attribution } from '../core/ownership/attribute.ts';
import { createDependencyMemory, type DependencyMemory } from '../core/ownership/dependency-memory.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import { isOwnershipFailure, type EdgeClass } from '../core/ownership/outbound.ts';
import { readInboundFacts } from '../engine/inbound-facts.ts';
import type { OutboundStart, OutboundTracker } from '../engine/outbound-tracking.ts';
import type { FieldList } from '../http1/message.ts';
import { callsNamedBy } from './cause-chain.ts';
import {
  countCalm,
  countClaimOut,
  Counters,
  countRadius,
  type OperationCounters,
  type ServiceMetrics,
} from './counters.ts';
import { edgeRules, type EdgeRules } from './edge-rules.ts';
import { InboundRequest } from './inbound-request.ts';
import { calleeOf } from './callee.ts';
import { NameMemory, operationName } from './operation-name.ts';
import { ServiceCall, type CallHost } from './service-call.ts';
import { withDefaults, type ServiceOptions, type ServiceSettings } from './settings.ts';

export interface ServiceHost {
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly nowMs?: (() => number) | undefined;
  /** Uniform in [0, 1). Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** An inbound request as it arrives. */
export interface Arrival {
  readonly method: string;
  /** The request target. */
  readonly path: string;
  readonly fields: FieldList;
  readonly peerAddress: string | undefined;
}

/** What a call is taken for while `optional`, `required` or `fallback` runs it. */
export interface EdgeScope {
  readonly edge: Exclude<EdgeClass, 'unknown'>;
  readonly begun: ServiceCall[];
}

interface Context {
  readonly inbound: InboundRequest | undefined;
  readonly scope: EdgeScope | undefined;
  /** The call, tracked as a whole, of which an attempt is made here. */
  readonly attempted: ServiceCall | undefined;
}

/** Errors of an operation tell of a lost context only after this many requests, nearly all of which made calls. */
const USUAL_FROM_COUNT = 20;
const USUAL_SHARE = 0.9;

/** A service as a citizen of error ownership: relates the calls it makes to the requests it answers. */
export class Service implements OutboundTracker, CallHost {
  readonly settings: ServiceSettings;
  readonly counters: Counters = new Counters();
  readonly memory: DependencyMemory;
  readonly trust: Trust;
  readonly #rules: EdgeRules;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #contexts = new AsyncLocalStorage<Context>();
  readonly #inboundNames = new NameMemory((method, path) => operationName(method, '', path));
  readonly #callees = new NameMemory(calleeOf);

  constructor(options: ServiceOptions = {}, host: ServiceHost = {}) {
    this.settings = withDefaults(options);
    this.trust = createTrust(this.settings.trust);
    this.#rules = edgeRules(this.settings);
    this.memory = createDependencyMemory();
    this.#nowMs = host.nowMs ?? (() => performance.now());
    this.#random = host.random ?? Math.random;
  }

  get marginMs(): number {
    return this.settings.marginMs;
  }

  nowMs(): number {
    return this.#nowMs();
  }

  edgeClass(inbound: string, callee: string, nowMs: number): EdgeClass {
    return this.#rules.classOf(inbound, callee) ?? this.memory.edgeClass(inbound, callee, nowMs);
  }

  trusts(host: string, address: string | undefined): boolean {
    return this.trust.any && (this.trust.hasAddress(address) || this.trust.hasName(host));
  }

  /** The request that is being answered here; `undefined` outside of one, or where the context was lost. */
  current(): InboundRequest | undefined {
    return this.#contexts.getStore()?.inbound;
  }

  arrive({ method, path, fields, peerAddress }: Arrival): InboundRequest {
    const facts = readInboundFacts(fields);
    const deadlineAtMs = facts.timeoutMs === undefined ? Infinity : this.#nowMs() + facts.timeoutMs;
    const trusted = this.trust.any && this.trust.hasAddress(peerAddress);
    return new InboundRequest(this.#inboundNames.of(method, path), facts, deadlineAtMs, trusted);
  }

  /** Whether it can be answered before its caller has gone. */
  isExpired({ deadlineAtMs }: InboundRequest): boolean {
    return deadlineAtMs - this.#nowMs() <= this.settings.marginMs;
  }

  /** Whether it is to be refused before the application sees it. */
  isRefused(inbound: InboundRequest): boolean {
    return inbound.deadlineAtMs < Infinity && this.settings.refuseExpired && this.isExpired(inbound);
  }

  refuse(inbound: InboundRequest): void {
    this.counters.operation(inbound.operation).expiredCount += 1;
    inbound.own = { why: 'timeout' };
  }

  enter(inbound: InboundRequest): void {
    this.#contexts.enterWith({ inbound, scope: undefined, attempted: undefined });
  }

  run<Result>(inbound: InboundRequest, work: () => Result): Result {
    return this.#contexts.run({ inbound, scope: undefined, attempted: undefined }, work);
  }

  scoped<Result>(scope: EdgeScope, work: () => Result): Result {
    return this.#contexts.run({ inbound: this.current(), scope, attempted: undefined }, work);
  }

  attempting<Result>(call: ServiceCall, send: () => Result): Result {
    return this.#contexts.run({ inbound: this.current(), scope: undefined, attempted: call }, send);
  }

  /** The call of which what a hook sees now is an attempt; `undefined` where it is a call of its own. */
  get attempted(): ServiceCall | undefined {
    return this.#contexts.getStore()?.attempted;
  }

  begin({ operation, method, url, edge }: OutboundStart): ServiceCall {
    const callee = this.#callees.of(method, url);
    const name = operation ?? callee.operation;
    const context = this.#contexts.getStore();
    const inbound = context?.inbound;
    const failures = inbound?.failuresOf(name, url) ?? [];
    failures.at(-1)?.repeated();
    const mode = this.#rules.modeOf(inbound?.operation, name);
    const { probeEvery } = this.settings;
    const probe = mode === 'enforce' && probeEvery > 0 && this.#random() * probeEvery < 1;
    const start = {
      operation: name,
      target: url,
      host: callee.host,
      repeatCount: failures.length,
      repeatsRelayed: failures.at(-1)?.ending?.claim?.claim === 'relayed',
      edge: edge ?? context?.scope?.edge,
      mode: probe ? ('observe' as const) : mode,
      probe,
    };
    const call = new ServiceCall(this, inbound, start, this.counters.edge(inbound?.operation ?? 'none', name));
    if (inbound === undefined) this.counters.untrackedCallCount += 1;
    else inbound.add(call);
    context?.scope?.begun.push(call);
    return call;
  }

  /**
   * Decides what the caller of a request is told about its answer, and learns from it. Once only: a second answer to the
   * same request changes nothing.
   * @param committed the head of the answer is out already
   * @returns the claim to write; `undefined` for none, and for a caller who is not to be told
   */
  answer(inbound: InboundRequest, outcomeClass: OutcomeClass, committed: boolean = false): ErrorClaim | undefined {
    if (inbound.answered) return undefined;
    const nowMs = this.#nowMs();
    for (const call of callsNamedBy(inbound.error)) {
      call.causal = true;
      if (!inbound.calls.includes(call)) inbound.add(call);
    }
    inbound.answered = true;
    const counters = this.counters.operation(inbound.operation);
    counters.requestCount += 1;
    if (inbound.calls.length > 0) counters.callingCount += 1;
    countRadius(counters, inbound.lineage + inbound.layerCount, nowMs);
    const { deadlineAtMs, keyed, own } = inbound;
    const attribution = isOwnershipFailure(outcomeClass)
      ? attribute(
          {
            outcomeClass,
            atMs: nowMs,
            committed,
            deadlinePassed: nowMs >= deadlineAtMs,
            keyed,
            blameUnknown: this.settings.blameUnknown,
            own,
          },
          inbound.calls,
        )
      : undefined;
    if (isInstructive(counters, inbound.calls, nowMs)) {
      this.memory.learn(inbound.operation, outcomeClass, inbound.calls, nowMs);
    }
    if (attribution === undefined) return undefined;
    counters.errorCount += 1;
    const claim = this.#doubted(attribution, inbound);
    countClaimOut(counters, claim);
    return inbound.trusted && this.settings.mode !== 'off' ? claim : undefined;
  }

  /** An error that nothing explains, where nearly every request makes calls: what it says of itself is a guess. */
  #doubted({ claim, basis }: Attribution, { operation, calls }: InboundRequest): ErrorClaim {
    const counters = this.counters.operation(operation);
    const { requestCount, callingCount } = counters;
    const usual = requestCount >= USUAL_FROM_COUNT && callingCount >= requestCount * USUAL_SHARE;
    if (basis !== 'none' || calls.length > 0 || !usual) return claim;
    counters.lowCount += 1;
    return { ...claim, why: undefined };
  }

  metrics(): ServiceMetrics {
    return this.counters.read(this.#nowMs());
  }
}

/** Of the requests of a minute in which no call failed, the memory needs some to compare with, not all. */
const CALM_COUNT = 100;
const CALM_SHARE = 16;

function isInstructive(counters: OperationCounters, calls: readonly ServiceCall[], nowMs: number): boolean {
  if (calls.length === 0) return false;
  if (calls.some(({ ending }) => ending !== undefined && isOwnershipFailure(ending.outcomeClass))) return true;
  // Whether this service itself failed has no part in the choice, or the comparison would be no fair one.
  const calm = countCalm(counters, nowMs);
  return calm <= CALM_COUNT || calm % CALM_SHARE === 0;
}
