import { classifyOutcome, outcomeClassOfResponse } from '../core/classify.ts';
import type { ResponseFacts } from '../core/outcome.ts';
import { attribute, type ServiceAnswer } from '../core/ownership/attribute.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import type { Outbound } from '../core/ownership/outbound.ts';
import { outboundEnding } from '../core/ownership/outbound-ending.ts';
import type { CallRun } from './call-run.ts';
import type { Callee, Caller } from './caller.ts';
import { EVENT, type SimulationClock } from './clock.ts';
import type { Instance } from './instance.ts';
import { eitherOf } from './instance.ts';
import { Pool } from './pool.ts';
import { ServedRequest } from './served-request.ts';
import { drawServiceTimeMs } from './service-time.ts';
import type { Topology } from './topology.ts';

const NO_OUTBOUNDS: readonly Outbound[] = [];
const OK: ResponseFacts = { status: 200 };
const OVERLOADED: ServiceAnswer['own'] = { why: 'overload', retry: 'other' };

/** The services: they queue, work, call, and answer, and say of an error whose it is. */
export class Server implements Callee {
  readonly requests: Pool<ServedRequest> = new Pool((slot) => new ServedRequest(slot));
  readonly #clock: SimulationClock;
  readonly #caller: Caller;
  readonly #claims: boolean;
  readonly #dropsExpired: boolean;

  constructor(clock: SimulationClock, caller: Caller, { ownership, deadlines }: Topology) {
    this.#clock = clock;
    this.#caller = caller;
    this.#claims = ownership !== 'off';
    this.#dropsExpired = deadlines.dropExpired;
  }

  receive(run: CallRun, instance: Instance, deadlineAtMs: number, lineage: number): void {
    const operation = run.call.to;
    const { measures, service } = operation;
    const { nowMs } = this.#clock.queue;
    measures.arrived.add(nowMs);
    if (instance.hangs) {
      measures.swallowedCount += 1;
      return;
    }
    const isLegacy = service.spec.participation === 'legacy';
    const request = this.requests.take();
    request.operation = operation;
    request.instance = instance;
    request.run = run;
    request.runTicket = run.ticket;
    request.arrivedAtMs = nowMs;
    request.deadlineAtMs = isLegacy ? Infinity : deadlineAtMs;
    request.lineage = isLegacy ? 0 : lineage;
    request.step = 0;
    request.status = 0;
    request.refusal = undefined;
    if (instance.busyCount < instance.workerCount) return this.#begin(request);
    const { queue, queueLimit } = instance.capacity;
    if (instance.waiting.length < queueLimit) return instance.waiting.push(request);
    // The newest has the best chance to be in time, where the newest comes first.
    const oldest = queue === 'lifo' ? instance.waiting.takeOldest() : undefined;
    if (oldest !== undefined) instance.waiting.push(request);
    this.#shed(oldest ?? request);
  }

  workDone(request: ServedRequest): void {
    if (!request.instance.capacity.blocking) this.#freeWorker(request);
    this.#goOn(request);
  }

  callEnded(request: ServedRequest, run: CallRun, isAnswered: boolean): void {
    request.pendingCount -= 1;
    if (!isAnswered) this.#noteFailure(request, run);
    if (request.pendingCount > 0) return;
    if (request.status === 0) this.#goOn(request);
    else this.answer(request);
  }

  /** Answers with the request's status, 0 being a success. */
  answer(request: ServedRequest): void {
    const { operation, run, runTicket, status } = request;
    const { measures } = operation;
    const { nowMs } = this.#clock.queue;
    if (request.holdsWorker) this.#freeWorker(request);
    measures.answeredCount += 1;
    measures.latency.record(nowMs - request.arrivedAtMs);
    if (status !== 0) measures.failed.add(nowMs);
    if (request.refusal === 'shed') measures.shedCount += 1;
    else if (request.refusal === 'expired') measures.expiredCount += 1;
    const isAwaited = run.ticket === runTicket;
    if (!isAwaited) measures.wastedCount += 1;
    const claim = status !== 0 && isAwaited ? this.#claimOf(request) : undefined;
    if (request.failures.length > 0) request.failures = [];
    this.requests.give(request);
    if (isAwaited) this.#caller.answered(run, status === 0 ? OK : { status }, claim);
  }

  /** After a change of what is wrong with it: those that waited may have a worker now. */
  wake(instance: Instance): void {
    while (instance.busyCount < instance.workerCount) {
      const { waiting, capacity } = instance;
      const next = capacity.queue === 'lifo' ? waiting.takeNewest() : waiting.takeOldest();
      if (next === undefined) return;
      this.#begin(next);
    }
  }

  #begin(request: ServedRequest): void {
    const { operation, instance } = request;
    const { queue, world } = this.#clock;
    if (this.#dropsExpired && request.deadlineAtMs <= queue.nowMs) {
      request.refusal = 'expired';
      return this.#answerSoon(request, 504);
    }
    instance.busyCount += 1;
    request.holdsWorker = true;
    const workMs = drawServiceTimeMs(operation.spec.serviceTime, world);
    const othersCount = instance.busyCount - 1;
    const loadFactor = 1 + (instance.latencyLoadRatio + operation.latencyLoadRatio) * othersCount;
    const factor = instance.latencyFactor * operation.latencyFactor * loadFactor;
    const doneAtMs = queue.nowMs + workMs * factor + instance.latencyAddMs + operation.latencyAddMs;
    queue.schedule(doneAtMs, EVENT.workDone, request.slot, 0);
  }

  /** The next step with a call in it, or the answer. */
  #goOn(request: ServedRequest): void {
    const { operation } = request;
    const { steps } = operation;
    while (request.step < steps.length) {
      const step = steps[request.step]!;
      request.step += 1;
      for (const call of step) {
        const { probability } = call.spec;
        if (probability < 1 && this.#clock.world.next() >= probability) continue;
        request.pendingCount += 1;
        this.#caller.start(call, request);
      }
      if (request.pendingCount > 0) return;
    }
    const { instance } = request;
    const errorRatio = eitherOf(operation.errorRatio, instance.errorRatio);
    if (errorRatio > 0 && this.#clock.world.next() < errorRatio)
      request.status = instance.errorRatio > 0 ? instance.errorStatus : operation.errorStatus;
    this.answer(request);
  }

  #noteFailure(request: ServedRequest, run: CallRun): void {
    const { call, outcome } = run;
    if (outcome === undefined) return;
    const { nowMs } = this.#clock.queue;
    const isTimeout = classifyOutcome(outcome) === 'timeout';
    if (call.spec.edge !== 'fail-open' && request.status !== 504) request.status = isTimeout ? 504 : 502;
    if (!this.#claims) return;
    request.failures.push({
      operation: call.to.spec.name,
      edge: call.spec.edge,
      startedAtMs: run.startedAtMs,
      ending: outboundEnding(run.session, outcome, run.claim, nowMs),
      covered: false,
      causal: false,
    });
  }

  #claimOf({ operation, status, deadlineAtMs, refusal, failures }: ServedRequest): ErrorClaim | undefined {
    const { participation } = operation.service.spec;
    if (!this.#claims || participation === 'legacy') return undefined;
    const { nowMs } = this.#clock.queue;
    const answer = {
      outcomeClass: outcomeClassOfResponse({ status }),
      atMs: nowMs,
      committed: false,
      deadlinePassed: nowMs >= deadlineAtMs,
      keyed: operation.spec.keyed,
      blameUnknown: true,
      own: refusal === 'shed' ? OVERLOADED : undefined,
    };
    return attribute(answer, participation === 'context-broken' ? NO_OUTBOUNDS : failures)?.claim;
  }

  #shed(request: ServedRequest): void {
    request.refusal = 'shed';
    this.#answerSoon(request, 503);
  }

  #answerSoon(request: ServedRequest, status: number): void {
    const { queue } = this.#clock;
    request.status = status;
    queue.schedule(queue.nowMs, EVENT.answer, request.slot, 0);
  }

  #freeWorker(request: ServedRequest): void {
    request.holdsWorker = false;
    request.instance.busyCount -= 1;
    this.wake(request.instance);
  }
}
