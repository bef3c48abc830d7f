import type { RetryDecision } from '../core/decision.ts';
import type { Circumstances, RequestSession } from '../core/request-session.ts';
import { createRequestSession } from '../core/request-session.ts';
import type { RequestBody } from '../transport/body/request-body.ts';
import type { AttemptRequest } from '../transport/transport.ts';
import type { Admission, Applicant, Refusal } from './admission.ts';
import { admit, isRefusal } from './admission.ts';
import { ask } from './ask.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { AttemptOwner } from './attempt-run.ts';
import { AttemptRun } from './attempt-run.ts';
import type { Endpoint } from './endpoint.ts';
import { Flight } from './flight.ts';
import { withRequestAttempt } from './request-attempt.ts';
import type { RunRequestOptions } from './request-run.ts';
import type { RunHost, Selection } from './run-host.ts';
import type { Upstream } from './upstream.ts';

/** What is to be sent: the first attempt, the retry that was decided, or a copy beside what is under way. */
export type Order =
  | { readonly type: 'first' }
  | { readonly type: 'retry'; readonly decision: RetryDecision }
  | {
      readonly type: 'copy';
      readonly afterMs: number;
      readonly body: RequestBody | undefined;
      readonly anywhere: boolean;
    };

/** The circumstances of a success, of which nothing more is asked. */
export const UNHINDERED: Circumstances = Object.freeze({
  bodyReplayable: true,
  committed: false,
  downstreamGone: false,
  endpointAvailable: true,
  otherEndpointAvailable: true,
  permitAvailable: true,
});

/** The run that sends. */
export interface LaunchOwner extends AttemptOwner {
  /** Whether it is still to be sent, after user code took its time. */
  isWanted(order: Order): boolean;
  /** It is on its way. */
  launched(order: Order): void;
  /** It cannot be sent. */
  refused(order: Order, refusal: Refusal): void;
}

/** Brings an attempt from "send it" to the transport: select, admit, record, build. */
export class Launcher implements Applicant {
  readonly attempts: AttemptRecord[] = [];
  readonly tried: Endpoint[] = [];
  readonly flight: Flight = new Flight();
  readonly host: RunHost;
  readonly operation: string;
  readonly random: () => number;
  /** Begins with the first upstream that is selected. */
  session: RequestSession | undefined;
  upstream: Upstream | undefined;

  readonly #options: RunRequestOptions;
  readonly #owner: LaunchOwner;

  constructor(options: RunRequestOptions, owner: LaunchOwner) {
    this.#options = options;
    this.#owner = owner;
    this.host = options.host;
    this.operation = options.operation ?? '';
    this.random = options.random;
  }

  launch(order: Order): void {
    ask(
      () => this.host.select(this.attempts.length + 1),
      (selection) => this.#selected(selection, order),
      this.#owner.hookFailed,
    );
  }

  /** What another attempt at `upstream` would meet, once `ownPermits` of this request were given back. */
  circumstances(upstream: Upstream, ownPermits: number, nowMs: number): Circumstances {
    const { body, canMove } = this.#options;
    return {
      bodyReplayable: body === undefined || body.replayable,
      // Nobody asks once an answer began or the client left: no attempt goes on then.
      committed: false,
      downstreamGone: false,
      endpointAvailable: upstream.hasEndpoint() || canMove?.() === true,
      otherEndpointAvailable: upstream.hasUntried(this.tried),
      permitAvailable: upstream.admits(this.operation, ownPermits, nowMs),
    };
  }

  /** The same when the attempt's own permit, and those of responses put aside, come back first. */
  circumstancesAfter(attempt: AttemptRun, nowMs: number): Circumstances {
    const { upstream, holdsPermit } = attempt;
    return this.circumstances(upstream, this.flight.permitsAside(upstream) + (holdsPermit ? 1 : 0), nowMs);
  }

  /** How long the circuit stays open, in milliseconds; `undefined` where it lets them through. */
  circuitWaitMs(): number | undefined {
    const waitMs = this.upstream?.circuits?.of(this.operation).waitMs(this.#options.clock.nowMs()) ?? 0;
    return waitMs > 0 ? waitMs : undefined;
  }

  #selected(selection: Selection | undefined, order: Order): void {
    if (!this.#owner.isWanted(order)) return;
    const nowMs = this.#options.clock.nowMs();
    if (selection !== undefined) {
      // A copy that is refused leaves no trace: what is under way goes on where it is.
      if (order.type !== 'copy') this.upstream = selection.upstream;
      this.session ??= this.#startSession(selection.upstream, nowMs);
    }
    const admission = admit(selection, this, order.type === 'copy' && !order.anywhere, nowMs);
    if (isRefusal(admission)) return this.#owner.refused(order, admission);
    this.upstream = admission.upstream;
    const attempt = new AttemptRun(this.#owner, admission, this.#record(admission, order), nowMs);
    this.flight.running.push(attempt);
    this.#owner.launched(order);
    const number = this.attempts.length;
    ask(
      () => this.host.buildRequest(admission.endpoint, number),
      (request) => {
        if (!attempt.over) this.#send(attempt, request, number, order);
      },
      this.#owner.hookFailed,
    );
  }

  #send(attempt: AttemptRun, request: AttemptRequest, number: number, order: Order): void {
    const { timeouts, facts, tellsHistory } = this.#options;
    const freshConnection = order.type === 'retry' && order.decision.freshConnection;
    const canRetry = tellsHistory?.(attempt) === true ? this.#canRetry() : undefined;
    const fields = withRequestAttempt(request.fields, number, facts.lineage, canRetry);
    const body = order.type === 'copy' ? order.body : request.body;
    const isAsBuilt = fields === request.fields && body === request.body;
    attempt.send(isAsBuilt ? request : { ...request, fields, body }, { timeouts, freshConnection });
  }

  /** As far as the policy goes; what the budget and the clock will say then is not known yet. */
  #canRetry(): boolean {
    const { policy, facts } = this.#options;
    const isAllowed = facts.lineage === 0 || policy.retryOfRetry;
    return isAllowed && (this.session?.retryCount ?? 0) < policy.maxRetries;
  }

  #startSession(upstream: Upstream, nowMs: number): RequestSession {
    const session = createRequestSession(this.#options.facts, this.#options.policy, upstream.budget);
    session.start(nowMs);
    return session;
  }

  #record({ upstream, endpoint }: Admission, order: Order): AttemptRecord {
    const record: AttemptRecord = {
      upstream: upstream.name,
      endpoint: endpoint.address.key,
      reused: false,
      waitMs: waitBefore(order),
      durationMs: 0,
      free: order.type === 'retry' && order.decision.free,
    };
    if (order.type === 'copy') record.hedge = true;
    if (upstream.panicking) record.panic = true;
    this.session?.attemptStarted();
    this.attempts.push(record);
    // Every attempt counts: when all were tried, the one tried longest ago is next.
    this.tried.push(endpoint);
    return record;
  }
}

function waitBefore(order: Order): number {
  if (order.type === 'retry') return order.decision.delayMs;
  return order.type === 'copy' ? order.afterMs : 0;
}
