import type { Failure } from '../../core/failure.ts';
import type { Outcome, ResponseFacts } from '../../core/outcome.ts';
import { withClaim } from '../../core/ownership/claimed-facts.ts';
import { suspicionOf } from '../../core/ownership/claim-suspicion.ts';
import type { ErrorClaim } from '../../core/ownership/error-claim.ts';
import type { RequestFacts } from '../../core/request.ts';
import type { RetryPolicy } from '../../core/retry-policy.ts';
import { mightRunTwice } from '../../core/safety.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import { hasErrorClaim, readErrorClaim, withErrorClaim } from '../../engine/error-claim.ts';
import type { RequestRun, SentAttempt } from '../../engine/request-run.ts';
import { readPeerAdvice, type PeerAdvice } from '../../engine/retry-advice.ts';
import { fieldValue, removeFields } from '../../http1/field-list.ts';
import type { FieldList, ResponseHead } from '../../http1/message.ts';
import { claimOf, type CallEnding } from './answer-claim.ts';
import type { ClientPeer } from '../client-peer.ts';
import type { OwnershipRules } from '../ownership-rules.ts';
import type { ExchangePlan } from '../plan.ts';
import type { ProxyState } from '../proxy-state.ts';

/** Whose error an answer is, as the record has it. `kept`: owned, and it came from below. */
export type ClaimWord = 'owned' | 'kept' | 'relayed';

/** An answer of this proxy's own, or the response that it delivers. */
export interface ToldAnswer {
  readonly status: number;
  readonly fields: FieldList;
  /** The response that is delivered. */
  readonly head?: ResponseHead | undefined;
  /** Why there is none to deliver. */
  readonly failure?: Failure | undefined;
  /** User code threw, or this process ends: no upstream has a part in it. */
  readonly isOwn?: boolean | undefined;
}

/** What is known of an upstream's answer with an error. */
interface Answered {
  readonly outcome: Outcome;
  readonly claim: ErrorClaim | undefined;
  /** A callee that is believed says that nobody may retry it. */
  readonly isFinal: boolean;
  /** Another attempt was decided on it: delivered all the same, it was handled here. */
  isRetried: boolean;
}

const RETRY_AFTER: ReadonlySet<string> = new Set(['retry-after']);
const NO_ADVICE: PeerAdvice = { never: false, nack: false, why: undefined };

type ProxyServices = Pick<ProxyState<unknown>, 'random' | 'hookFault'>;
type Callee = Pick<SentAttempt, 'upstream' | 'endpoint'>;

/** `undefined` where the plan of the request takes no part in error ownership. */
export function beginOwnership(
  { ownership: rules, policy }: ExchangePlan,
  peer: ClientPeer,
  request: RequestFacts,
  proxy: ProxyServices,
): ExchangeOwnership | undefined {
  if (rules === undefined || policy.ownership === 'off') return undefined;
  return new ExchangeOwnership(rules, policy, peer, request, proxy);
}

/** One request in error ownership: what its callees claimed, and what its caller is told. */
export class ExchangeOwnership {
  /** The policy of the request, with the mode that holds for it. */
  readonly policy: RetryPolicy;
  /** Whose error its answer is; undefined for an answer that is none. Known also where nobody is told. */
  claimOut: ClaimWord | undefined;

  readonly isCallerTrusted: boolean;
  readonly #rules: OwnershipRules;
  readonly #request: RequestFacts;
  readonly #proxy: ProxyServices;
  readonly #isProbe: boolean;
  #answers: Map<ResponseHead, Answered> | undefined;
  /** Of the latest attempt. */
  #last: Answered | undefined;
  /** Of this attempt `enforce` would have allowed no retry. */
  #final: AttemptRecord | undefined;

  constructor(
    rules: OwnershipRules,
    policy: RetryPolicy,
    peer: ClientPeer,
    request: RequestFacts,
    proxy: ProxyServices,
  ) {
    const { probeEvery = 0 } = rules;
    this.#rules = rules;
    this.#request = request;
    this.#proxy = proxy;
    this.isCallerTrusted = this.#trusts('trustsCaller', () => rules.trustsCaller(peer));
    this.#isProbe = probeEvery > 0 && policy.ownership === 'enforce' && proxy.random() * probeEvery < 1;
    this.policy = this.#isProbe ? { ...policy, ownership: 'observe' } : policy;
  }

  /** Whether this endpoint is believed, and told of the attempts that may follow and of the time that is left. */
  readonly tells = ({ upstream, endpoint }: Callee): boolean =>
    this.#trusts('trustsCallee', () => this.#rules.trustsCallee(upstream.name, endpoint.address));

  /** A question that fails is no reason to believe anybody. */
  #trusts(question: string, ask: () => boolean): boolean {
    try {
      return ask();
    } catch (error) {
      this.#proxy.hookFault(new Error(`${question} failed, and the peer is not trusted`, { cause: error }));
      return false;
    }
  }

  /** A response head arrived: what it claims and advises goes into the facts that are decided by. */
  readonly answered = (facts: ResponseFacts, head: ResponseHead, attempt: SentAttempt): ResponseFacts => {
    if (!isError(head)) return facts;
    const isTrusted = this.tells(attempt);
    const { claim, fault } = isTrusted ? readErrorClaim(head.fields) : { claim: undefined, fault: undefined };
    if (fault !== undefined) attempt.record.claimRefused = 'garbled';
    else if (!isTrusted && hasErrorClaim(head.fields)) attempt.record.claimRefused = 'untrusted';
    const suspect = claim === undefined ? undefined : suspicionOf(claim);
    if (suspect !== undefined) attempt.record.claimSuspect = suspect;
    const advice = isTrusted ? readPeerAdvice(head.fields) : NO_ADVICE;
    const told = this.#advised(withClaim(facts, claim, this.policy.ownership), advice);
    const isFinal = claim?.retry === 'never' || advice.never;
    if (isFinal || claim?.claim === 'relayed') this.#final = attempt.record;
    const answered = {
      outcome: { type: 'response' as const, response: withGrpcStatus(told, head) },
      claim: claim ?? claimed(advice),
      isFinal,
      isRetried: false,
    } satisfies Answered;
    this.#last = answered;
    (this.#answers ??= new Map()).set(head, answered);
    return told;
  };

  /** Advice is advice of an owner: where claims are only observed, so is it. */
  #advised(facts: ResponseFacts, { never, nack }: PeerAdvice): ResponseFacts {
    if (this.policy.ownership !== 'enforce' || !(never || nack)) return facts;
    return { ...facts, advisedNever: facts.advisedNever === true || never, nack: facts.nack === true || nack };
  }

  /** An attempt died without a response. */
  failed(failure: Failure): void {
    this.#last = { outcome: { type: 'failure', failure }, claim: undefined, isFinal: false, isRetried: false };
  }

  /** Another attempt follows. */
  retried(attempt: AttemptRecord): void {
    if (this.#last !== undefined) this.#last.isRetried = true;
    if (attempt === this.#final) attempt.retriedDespite = this.#isProbe ? 'probe' : 'observe';
  }

  /**
   * The fields of an answer as its caller gets them: with a claim for one that is trusted, and for others in the words that
   * everybody knows: what nobody may repeat has no Retry-After.
   */
  told(answer: ToldAnswer, run: RequestRun | undefined, routeName: string | undefined): FieldList {
    const { status, fields, head, failure, isOwn } = answer;
    const delivered = head === undefined ? undefined : this.#answers?.get(head);
    if (status < 400 && delivered === undefined) return fields;
    const ending = delivered ?? (isOwn === true ? undefined : this.#endingOf(failure, run));
    const call: CallEnding | undefined =
      ending === undefined ? undefined : { ...ending, handled: ending.isRetried || run?.handled === true };
    const made = claimOf({ status, fields, failure, call, request: this.#request });
    if (made === undefined) return fields;
    const claim =
      isOwn === true && this.#mayHaveRun(run) ? ({ ...made, retry: 'never', effect: 'maybe' } as const) : made;
    this.claimOut = claim.claim === 'owned' && claim.kept ? 'kept' : claim.claim;
    if (this.isCallerTrusted) {
      const { alias = false } = this.#rules;
      return withErrorClaim(fields, this.#named(claim, ending?.claim, routeName), { alias, identity: true });
    }
    const isFinal = ending?.isFinal === true || (head === undefined && claim.retry === 'never');
    return isFinal && this.policy.ownership === 'enforce' ? removeFields(fields, RETRY_AFTER) : fields;
  }

  /** Our own fault explains the answer, and what an upstream has done by then is done all the same. */
  #mayHaveRun(run: RequestRun | undefined): boolean {
    const sent = run?.attempts.some(({ class: safety = 'ambiguous' }) => mightRunTwice(safety, this.#request));
    return sent === true;
  }

  /** A request that was sent to nobody is nobody's call. */
  #endingOf(failure: Failure | undefined, run: RequestRun | undefined): Answered | undefined {
    if (run === undefined) return undefined;
    if (failure === undefined) return this.#last;
    if (failure.kind === 'deadline_exceeded' && run.attempts.length === 0) return undefined;
    return { outcome: { type: 'failure', failure }, claim: undefined, isFinal: false, isRetried: false };
  }

  /** Where it began: here, or where the callee says. */
  #named(claim: ErrorClaim, below: ErrorClaim | undefined, routeName: string | undefined): ErrorClaim {
    const { service } = this.#rules;
    const own =
      service === undefined ? undefined : [service, ...(routeName === undefined ? [] : [routeName])].join('/');
    return claim.hops === 0 ? { ...claim, source: own } : { ...claim, source: below?.source, domain: below?.domain };
  }
}

/** By its status, or by that of gRPC in a response that is a head only. */
function isError({ status, fields }: ResponseHead): boolean {
  if (status >= 400) return true;
  const grpcStatus = fieldValue(fields, 'grpc-status');
  return grpcStatus !== undefined && grpcStatus !== '0';
}

/** Whatever the policy names: the answer's own class depends on it. */
function withGrpcStatus(facts: ResponseFacts, { fields }: ResponseHead): ResponseFacts {
  if (facts.status >= 400) return facts;
  return { ...facts, grpcStatus: Number(fieldValue(fields, 'grpc-status')) };
}

/** Advice of peers that make no claims, in the words of one. */
function claimed({ never, why }: PeerAdvice): ErrorClaim | undefined {
  if (!never) return undefined;
  return { claim: 'owned', why, retry: 'never', kept: false, effect: undefined, hops: undefined };
}
