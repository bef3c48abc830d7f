import { hashText } from '../core/hash.ts';
import type { StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Admitted } from './attempt-report.ts';
import { AttemptReport } from './attempt-report.ts';
import type { Endpoint } from './endpoint.ts';
import { localFailure } from './failures.ts';
import type { RunHost, Selection } from './run-host.ts';
import type { Upstream } from './upstream.ts';

/** Everything one attempt needs before it is sent: an endpoint, a permit, and the leave of the circuit. */
export interface Admission {
  readonly upstream: Upstream;
  readonly endpoint: Endpoint;
  /** `undefined` where neither circuit nor endpoint counts outcomes. */
  readonly report: AttemptReport | undefined;
}

export interface Refusal {
  readonly reason: StopReason;
  readonly failure: Failure;
}

/** Who wants to send. */
export interface Applicant {
  readonly host: RunHost;
  readonly operation: string;
  readonly tried: readonly Endpoint[];
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * Takes all of it or nothing. The permit and the place in the endpoint's load are the attempt's to give back.
 * @param untriedOnly Only an endpoint that was not tried will do: it is for a copy.
 */
export function admit(
  selection: Selection | undefined,
  applicant: Applicant,
  untriedOnly: boolean,
  nowMs: number,
): Admission | Refusal {
  if (selection === undefined) return refused('no-endpoint', 'destination_unavailable', 'no upstream was selected');
  const { upstream } = selection;
  if (!upstream.permits.tryAcquire())
    return refused('circuit-open', 'circuit_open', `upstream ${upstream.name}: no permit`);
  const circuit = upstream.circuits?.of(applicant.operation);
  const pass = circuit?.tryPass(nowMs) ?? 0;
  if (circuit !== undefined && pass < 0) {
    upstream.permits.release();
    return refused('circuit-open', 'circuit_open', `upstream ${upstream.name}: the circuit is open`);
  }
  const endpoint = selection.endpoint ?? pick(upstream, applicant, nowMs);
  if (endpoint === undefined || (untriedOnly && applicant.tried.includes(endpoint))) {
    circuit?.record(pass, 'none', nowMs);
    upstream.permits.release();
    const why = `upstream ${upstream.name}: no endpoint can be used: ${upstream.whyNone()}`;
    return refused('no-endpoint', 'destination_unavailable', why);
  }
  endpoint.inflight += 1;
  const admitted: Admitted | undefined = circuit === undefined ? undefined : { circuit, pass };
  const isCounted = admitted !== undefined || endpoint.outlier !== undefined;
  return { upstream, endpoint, report: isCounted ? new AttemptReport(upstream, endpoint, admitted) : undefined };
}

export function isRefusal(result: Admission | Refusal): result is Refusal {
  return 'reason' in result;
}

function pick(upstream: Upstream, { host, tried, random }: Applicant, nowMs: number): Endpoint | undefined {
  const { hashOn } = upstream;
  return upstream.pick(tried, nowMs, random, hashOn === undefined ? 0 : hashText(host.hashKey(hashOn.header)));
}

function refused(reason: StopReason, kind: Failure['kind'], why: string): Refusal {
  return { reason, failure: localFailure(kind, why) };
}
