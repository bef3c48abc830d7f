import { classifyOutcome, outcomeClassOfResponse, type OutcomeClass } from '../../core/classify.ts';
import type { Failure, FailureKind } from '../../core/failure.ts';
import type { Outcome } from '../../core/outcome.ts';
import { attribute, type ServiceAnswer } from '../../core/ownership/attribute.ts';
import type { ErrorClaim } from '../../core/ownership/error-claim.ts';
import { outcomeClassOfGrpcStatus } from '../../core/ownership/grpc-status.ts';
import type { Outbound } from '../../core/ownership/outbound.ts';
import type { RequestFacts } from '../../core/request.ts';
import { mightRunTwice, safetyOf } from '../../core/safety.ts';
import { fieldValue } from '../../http1/field-list.ts';
import type { FieldList } from '../../http1/message.ts';

/** What became of the call that a request is for this proxy, with all its attempts. */
export interface CallEnding {
  /** Of the attempt that the answer is about. */
  readonly outcome: Outcome;
  /** What its callee said, or what its advice comes to. */
  readonly claim: ErrorClaim | undefined;
  /** See `StopDecision.handled`. */
  readonly handled: boolean;
}

/** An answer with an error as far as its claim depends on it. */
export interface ClaimedAnswer {
  readonly status: number;
  readonly fields: FieldList;
  /** Why the answer is one of this proxy's own. */
  readonly failure: Failure | undefined;
  /** Undefined: no upstream was asked. */
  readonly call: CallEnding | undefined;
  readonly request: RequestFacts;
}

/** Of us alone, whatever else went wrong: nothing that an upstream did explains them. */
const OUR_OWN: ReadonlyMap<FailureKind, NonNullable<ServiceAnswer['own']>> = new Map<
  FailureKind,
  NonNullable<ServiceAnswer['own']>
>([
  ['local_resource_exhausted', { why: 'overload', retry: 'other' }],
  ['proxy_internal_error', { why: 'local' }],
  ['proxy_configuration_error', { why: 'local' }],
  ['proxy_loop_detected', { why: 'local' }],
  ['hook_error', { why: 'local' }],
]);

/** What a caller is told about an answer; `undefined` for a success and for what the caller did wrong itself. */
export function claimOf(answer: ClaimedAnswer): ErrorClaim | undefined {
  const { failure, call, request } = answer;
  const service: ServiceAnswer = {
    outcomeClass: classOf(answer),
    atMs: 0,
    committed: false,
    deadlinePassed: failure?.kind === 'deadline_exceeded',
    keyed: request.keyed,
    blameUnknown: true,
    own: failure === undefined ? undefined : OUR_OWN.get(failure.kind),
  };
  return attribute(service, call === undefined ? [] : [outboundOf(call, request)])?.claim;
}

function classOf({ status, fields }: ClaimedAnswer): OutcomeClass {
  const grpcStatus = status === 200 ? fieldValue(fields, 'grpc-status') : undefined;
  return grpcStatus === undefined ? outcomeClassOfResponse({ status }) : outcomeClassOfGrpcStatus(Number(grpcStatus));
}

/** A proxy makes one call a request, and its answer stands and falls with it. */
function outboundOf({ outcome, claim, handled }: CallEnding, request: RequestFacts): Outbound {
  return {
    operation: '',
    edge: 'fail-closed',
    startedAtMs: 0,
    ending: {
      atMs: 0,
      outcomeClass: callClass(outcome),
      claim,
      handled,
      effect: mightRunTwice(safetyOf(outcome), request) ? 'maybe' : undefined,
    },
    covered: false,
    causal: true,
  };
}

function callClass(outcome: Outcome): OutcomeClass {
  if (outcome.type === 'response' && outcome.response.status === 200 && outcome.response.grpcStatus !== undefined)
    return outcomeClassOfGrpcStatus(outcome.response.grpcStatus);
  return classifyOutcome(outcome);
}
