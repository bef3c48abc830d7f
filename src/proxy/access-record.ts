import type { Claim } from '../core/claim.ts';
import type { StopReason } from '../core/decision.ts';
import type { Failure, FailureKind } from '../core/failure.ts';
import { describeFailure } from '../core/failure-chain.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import type { RequestRun } from '../engine/request-run.ts';
import type { NotReplayableReason } from '../transport/body/replay-body.ts';
import type { ClaimWord } from './exchange/exchange-ownership.ts';
import type { ProxyRequest } from './phases.ts';
import type { ExchangePlan } from './plan.ts';
import { pathWithoutQuery } from './proxy-request.ts';

/** Response flags, Envoy's letters where one fits; `CB` is ours: no permit of the circuit breaker. */
export type ResponseFlag = 'UF' | 'UC' | 'UT' | 'UO' | 'URX' | 'NR' | 'UH' | 'DC' | 'DPE' | 'CB' | 'IB';

/** One line a request: what the client got, what every attempt did, and why there was not another one. */
export interface AccessRecord {
  /** 1 for the first request of this process; the same number stands in the events of `/events`. */
  readonly requestId: number;
  /** Wall clock, ISO 8601, when the request head arrived. */
  readonly time: string;
  /** As received. */
  readonly method: string;
  /** Without query: it may carry secrets. */
  readonly path: string;
  /** Authority of the request. */
  readonly host: string;
  /** IP address of the client. */
  readonly remoteAddress: string;
  /** Of HTTP, in front: `1.0`, `1.1` or `2`. */
  readonly protocol: string;
  /** `routeName` of the plan. */
  readonly route: string | undefined;
  /** Of the last attempt. */
  readonly upstream: string | undefined;
  /** What the client was answered; 499 when it left before an answer. */
  readonly status: number;
  /** Why the answer is not simply that of an upstream; empty for most. */
  readonly flags: readonly ResponseFlag[];
  /** Why no (further) retry was made; undefined when no upstream was asked. */
  readonly reason: StopReason | undefined;
  /** The response was cut after its head. */
  readonly truncated: boolean;
  /** Of the request body, or from the client through the tunnel. */
  readonly bytesIn: number;
  /** Of the response body, or to the client through the tunnel; what a body filter made of it. */
  readonly bytesOut: number;
  /** From the request head to the end of the answer, in milliseconds. */
  readonly durationMs: number;
  /** Attempts after the first that were sent, copies of slow ones left out. */
  readonly retryAttempts: number;
  /** Milliseconds spent waiting between attempts. */
  readonly retryBackoff: number;
  /** Why a copy of a slow attempt that was due was not sent. */
  readonly hedgeRefused: StopReason | undefined;
  /** Retries made above this request, as its client says: 0–16. */
  readonly lineage: number;
  /** Whether its client is one to tell claims to; undefined where it takes no part in error ownership. */
  readonly callerTrusted: boolean | undefined;
  /** What the last callee claimed. */
  readonly claimIn: Claim | undefined;
  /** Whose error the answer is, as a trusted client is told; `kept`: owned, and it came from below. Undefined without an error. */
  readonly claimOut: ClaimWord | undefined;
  /** Which cap ended the keeping of the request body; from then on it could not be sent again. */
  readonly replayLost: NotReplayableReason | undefined;
  /** The last failure, or what went wrong here, with its causes, in one line; else why the request was refused. */
  readonly error: string | undefined;
  /** What each attempt did, in the order of their beginnings. */
  readonly attempts: readonly AttemptRecord[];
}

/** What an exchange knows at its end. */
export interface ExchangeFacts {
  readonly requestId: number;
  readonly request: ProxyRequest;
  readonly plan: ExchangePlan;
  readonly run: RequestRun | undefined;
  readonly startedWallMs: number;
  readonly durationMs: number;
  readonly status: number;
  readonly truncated: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** A flag that no failure carries. */
  readonly extraFlag: ResponseFlag | undefined;
  readonly failure: Failure | undefined;
  /** What went wrong here; stands above the failure, whose flag stays. */
  readonly fault: Failure | undefined;
  /** Why nothing was asked of anybody, where nothing went wrong. */
  readonly refusal: string | undefined;
  readonly replayLost: NotReplayableReason | undefined;
  readonly lineage: number;
  readonly callerTrusted: boolean | undefined;
  readonly claimOut: ClaimWord | undefined;
}

export function buildRecord(facts: ExchangeFacts): AccessRecord {
  const { request, plan, run } = facts;
  const error = facts.fault ?? facts.failure;
  return {
    requestId: facts.requestId,
    time: new Date(facts.startedWallMs).toISOString(),
    method: request.method,
    path: pathWithoutQuery(request.path),
    host: request.host,
    remoteAddress: request.remoteAddress,
    protocol: request.protocol,
    route: plan.routeName,
    upstream: run?.upstream?.name,
    status: facts.status,
    flags: flagsOf(facts),
    reason: run?.reason,
    truncated: facts.truncated,
    bytesIn: facts.bytesIn,
    bytesOut: facts.bytesOut,
    durationMs: round(facts.durationMs),
    retryAttempts: run?.retryCount ?? 0,
    retryBackoff: round(run?.waitedMs ?? 0),
    hedgeRefused: run?.hedgeRefused,
    lineage: facts.lineage,
    callerTrusted: facts.callerTrusted,
    claimIn: run?.attempts.at(-1)?.claim,
    claimOut: facts.claimOut,
    replayLost: facts.replayLost,
    error: error === undefined ? facts.refusal : describeFailure(error),
    attempts: run?.attempts ?? [],
  };
}

function flagsOf({ extraFlag, failure, fault, run }: ExchangeFacts): ResponseFlag[] {
  const flags: ResponseFlag[] = [];
  if (extraFlag !== undefined) flags.push(extraFlag);
  const why = failure ?? fault;
  const flag = why === undefined ? undefined : failureFlag(why.kind);
  if (flag !== undefined && flag !== extraFlag) flags.push(flag);
  if (run?.reason === 'attempts-exhausted') flags.push('URX');
  if (run?.reason === 'circuit-open' && !flags.includes('CB')) flags.push('CB');
  return flags;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** The flag a failure puts on its request. */
export function failureFlag(kind: FailureKind): ResponseFlag | undefined {
  return FLAGS[kind];
}

const FLAGS: Partial<Record<FailureKind, ResponseFlag>> = {
  dns_timeout: 'UF',
  dns_error: 'UF',
  destination_ip_unroutable: 'UF',
  connection_refused: 'UF',
  connection_timeout: 'UF',
  tls_protocol_error: 'UF',
  tls_certificate_error: 'UF',
  tls_alert_received: 'UF',
  connection_terminated: 'UC',
  http_response_incomplete: 'UC',
  connection_read_timeout: 'UT',
  connection_write_timeout: 'UT',
  http_response_timeout: 'UT',
  deadline_exceeded: 'UT',
  connection_limit_reached: 'UO',
  destination_unavailable: 'UH',
  circuit_open: 'CB',
  downstream_closed: 'DC',
  downstream_timeout: 'DPE',
  downstream_protocol_error: 'DPE',
};

/** Longest text of one field of a log line, in characters: a hostile path must not fill the disk. */
const FIELD_CHARACTERS = 1_024;

/** One line of JSON. JSON escapes control characters; U+2028 and U+2029 are escaped for readers that split on them. */
export function recordLine(record: AccessRecord): string {
  let line = JSON.stringify(record);
  // A line that is short has no long field; looking at each one while it is written takes three times as long.
  if (line.length > FIELD_CHARACTERS) line = JSON.stringify(record, shortened);
  if (UNSAFE_CHARACTER.test(line)) line = line.replaceAll(UNSAFE_CHARACTERS, escaped);
  return `${line}\n`;
}

// C1 controls reach terminals as escape sequences too.
const UNSAFE_CHARACTER = /[\u007f-\u009f\u2028\u2029]/;
const UNSAFE_CHARACTERS = new RegExp(UNSAFE_CHARACTER, 'g');

function shortened(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > FIELD_CHARACTERS ? `${value.slice(0, FIELD_CHARACTERS)}…` : value;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
