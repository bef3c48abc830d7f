import type { AccessRecord } from '../../proxy/access-record.ts';
import type { Answer } from './client.ts';
import { createClient } from './client.ts';
import type { Arrival } from './journal.ts';
import { openRecords } from './record-reader.ts';
import type { RequestSpec, Scenario } from './scenario.ts';
import { scenarios } from './scenario.ts';
import type { ServerName } from './servers.ts';
import type { Stage } from './stage.ts';

/** A request sent straight to a server, once. */
export interface DirectOutcome {
  readonly server: ServerName;
  readonly answer: Answer;
  /** Its arrivals at the servers. */
  readonly arrivals: readonly Arrival[];
}

/** The same request sent through the gateway. */
export interface GatewayOutcome {
  readonly answer: Answer;
  readonly arrivals: readonly Arrival[];
  /** The gateway's line about it in the access log. */
  readonly record: AccessRecord;
}

export interface RequestOutcome {
  readonly scenario: Scenario;
  readonly spec: RequestSpec;
  readonly direct: DirectOutcome;
  readonly gateway: GatewayOutcome;
}

/** Looks on while the requests are sent. */
export interface Spectator {
  /** A request is about to be sent. `number` counts from 1. */
  sending(way: 'direct' | 'gateway', number: number, spec: RequestSpec): void;
  directDone(outcomes: readonly DirectOutcome[]): void;
  scenarioBegins(scenario: Scenario): void;
  gatewayDone(outcome: RequestOutcome): void;
}

export const requestCount: number = scenarios.reduce((sum, { requests }) => sum + requests.length, 0);

/**
 * Sends every request of the demo twice: first straight to the servers of its scenario in turn, without any retry, then
 * through the gateway. One at a time, so that each one's story can be told.
 * @throws Error when the access log lacks a request, or the signal's reason when it aborts
 */
export async function runTraffic(
  stage: Stage,
  spectator: Spectator,
  signal: AbortSignal,
): Promise<readonly RequestOutcome[]> {
  const direct = await sendDirectly(stage, spectator, signal);
  spectator.directDone([...direct.values()]);
  return sendThroughGateway(stage, spectator, signal, direct);
}

async function sendDirectly(
  { journal, servers }: Stage,
  spectator: Spectator,
  signal: AbortSignal,
): Promise<Map<RequestSpec, DirectOutcome>> {
  const client = createClient(signal);
  const outcomes = new Map<RequestSpec, DirectOutcome>();
  try {
    for (const scenario of scenarios) {
      for (const [index, spec] of scenario.requests.entries()) {
        const server = scenario.servers[index % scenario.servers.length]!;
        const id = `direct-${outcomes.size + 1}`;
        journal.announce(id);
        spectator.sending('direct', outcomes.size + 1, spec);
        const answer = await client.send(servers.addressOf(server), id, spec);
        signal.throwIfAborted();
        outcomes.set(spec, { server, answer, arrivals: journal.arrivals(id) });
      }
    }
  } finally {
    client.close();
  }
  return outcomes;
}

async function sendThroughGateway(
  { journal, gatewayAddress, accessLogPath }: Stage,
  spectator: Spectator,
  signal: AbortSignal,
  direct: ReadonlyMap<RequestSpec, DirectOutcome>,
): Promise<readonly RequestOutcome[]> {
  const client = createClient(signal);
  const records = await openRecords(accessLogPath, signal);
  const outcomes: RequestOutcome[] = [];
  try {
    for (const scenario of scenarios) {
      spectator.scenarioBegins(scenario);
      for (const spec of scenario.requests) {
        const id = `gateway-${outcomes.length + 1}`;
        journal.announce(id);
        spectator.sending('gateway', outcomes.length + 1, spec);
        const answer = await client.send(gatewayAddress, id, spec);
        signal.throwIfAborted();
        const record = await records.find(spec.method, spec.path);
        const gateway: GatewayOutcome = { answer, arrivals: journal.arrivals(id), record };
        const outcome: RequestOutcome = { scenario, spec, direct: direct.get(spec)!, gateway };
        outcomes.push(outcome);
        spectator.gatewayDone(outcome);
      }
    }
  } finally {
    client.close();
    await records.close();
  }
  return outcomes;
}
