import type { StopReason } from '../../core/decision.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import type { Answer } from './client.ts';
import type { Figures } from './figures.ts';
import { figuresOf, stopReasonCounts } from './figures.ts';
import { scenarios } from './scenario.ts';
import type { Stage } from './stage.ts';
import { stopMeanings } from './stop-meaning.ts';
import { behaviours } from './servers.ts';
import type { ServerName } from './servers.ts';
import type { RequestOutcome } from './traffic.ts';

/** The demo for machines: what `--json` prints. Keys are added, never renamed. */
export interface DemoReport {
  readonly durationMs: number;
  /** `host:port` of the gateway. */
  readonly gateway: string;
  readonly config: { readonly path: string; readonly text: string; readonly kept: boolean };
  readonly servers: readonly { readonly name: ServerName; readonly address: string; readonly behaviour: string }[];
  readonly requests: readonly ReportedRequest[];
  readonly scenarios: readonly ({
    readonly name: string;
    readonly trouble: string;
    readonly hopeless: boolean;
  } & Figures)[];
  readonly summary: Figures & {
    readonly stopReasons: readonly { readonly reason: StopReason; readonly count: number; readonly meaning: string }[];
  };
}

interface ReportedRequest {
  readonly scenario: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | null;
  readonly without: ReportedWay & { readonly server: ServerName };
  readonly with: ReportedWay & {
    readonly reason: StopReason | null;
    readonly retryCount: number;
    readonly waitMs: number;
    readonly attempts: readonly (AttemptRecord & { readonly server: string })[];
  };
}

interface ReportedWay {
  /** What the client got; null: no answer. */
  readonly status: number | null;
  readonly error: string | null;
  readonly retryAfter: string | null;
  readonly durationMs: number;
  /** How often the request arrived at a server. */
  readonly serverCount: number;
}

export function createReport(
  stage: Stage,
  outcomes: readonly RequestOutcome[],
  durationMs: number,
  kept: boolean,
): DemoReport {
  return {
    durationMs,
    gateway: stage.gatewayAddress,
    config: { path: stage.configPath, text: stage.configText, kept },
    servers: Object.entries(behaviours).map(([name, behaviour]) => ({
      name: name as ServerName,
      address: stage.servers.addressOf(name as ServerName),
      behaviour,
    })),
    requests: outcomes.map((outcome) => reportRequest(outcome, stage)),
    scenarios: scenarios.map(({ name, trouble, hopeless }) =>
      Object.assign({ name, trouble, hopeless }, figuresOf(outcomes.filter(({ scenario }) => scenario.name === name))),
    ),
    summary: {
      ...figuresOf(outcomes),
      stopReasons: stopReasonCounts(outcomes).map(([reason, count]) => ({
        reason,
        count,
        meaning: stopMeanings[reason],
      })),
    },
  };
}

function reportRequest({ scenario, spec, direct, gateway }: RequestOutcome, { servers }: Stage): ReportedRequest {
  const { record } = gateway;
  return {
    scenario: scenario.name,
    method: spec.method,
    path: spec.path,
    idempotencyKey: spec.key ?? null,
    without: { server: direct.server, ...reportWay(direct.answer, direct.arrivals.length) },
    with: {
      ...reportWay(gateway.answer, gateway.arrivals.length),
      reason: record.reason ?? null,
      retryCount: record.retryAttempts,
      waitMs: record.retryBackoff,
      attempts: record.attempts.map((attempt) => Object.assign({ server: servers.nameAt(attempt.endpoint) }, attempt)),
    },
  };
}

function reportWay(answer: Answer, serverCount: number): ReportedWay {
  const { status = null, error = null, retryAfter = null, durationMs } = answer;
  return { status, error, retryAfter, durationMs, serverCount };
}
