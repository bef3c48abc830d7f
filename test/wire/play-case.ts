import type { TestContext } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { fieldPairs } from '../support/fields.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { FileObject, RunningGateway } from '../support/running-gateway.ts';
import { gatewayFile, startGateway } from '../support/running-gateway.ts';
import type { Asking, Heard, WireClient } from './asking.ts';
import { askingOf, get } from './asking.ts';
import { caFile } from './authority.ts';
import { connectHttp1 } from './http1-client.ts';
import { connectHttp2 } from './http2-client.ts';
import type { Lockstep, Player } from './lockstep.ts';
import type { Cell, ClientStep, OriginPlan, Scenario } from './scenario.ts';
import { boldest } from './scenario.ts';
import { startTarget, waitOn } from './start-target.ts';
import type { Seen, Target } from './target.ts';
import { warmPath } from './target.ts';

/** What a case came to. */
export interface Played {
  readonly heard: Heard;
  /** What each origin saw, in order. */
  readonly seen: readonly (readonly Seen[])[];
  /** Of the request that the case is about; undefined when there is none. */
  readonly record: AccessRecord | undefined;
  readonly records: readonly AccessRecord[];
  readonly diagnostics: readonly string[];
  /** Things that should be gone after the request, or after everything was closed. */
  readonly left: readonly string[];
}

/** The clocks of one case, and the one who waits for its silence. */
class CasePlayer implements Player {
  /** Of the gateway. Its timers alone must be gone at the end. */
  readonly clock: ManualClock = createManualClock();
  /** Of the origins. */
  readonly originClock: ManualClock = createManualClock();
  readonly stuck: Promise<never>;
  #onQuiet: (() => void) | undefined;
  #reject: (error: Error) => void = () => {};

  constructor() {
    this.stuck = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.stuck.catch(() => {});
  }

  /** Resolves when everything that needs no time has happened. */
  quiet(): Promise<void> {
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
    });
  }

  onQuiet(): void {
    const onQuiet = this.#onQuiet;
    this.#onQuiet = undefined;
    if (onQuiet !== undefined) return onQuiet();
    const dueMs = Math.min(this.clock.nextDueMs ?? Infinity, this.originClock.nextDueMs ?? Infinity);
    if (dueMs === Infinity) return this.#reject(new Error('a hang: nothing is under way, and no timer is set'));
    // What is due at the same time happens to the origin first, as it would for a byte that is on its way.
    this.originClock.advance(dueMs - this.originClock.nowMs());
    this.clock.advance(dueMs - this.clock.nowMs());
  }
}

/** Plays one cell of the matrix on sockets, with a gateway and origins of its own. */
export async function playCase(t: TestContext, lockstep: Lockstep, scenario: Scenario, cell: Cell): Promise<Played> {
  const player = new CasePlayer();
  const { origins } = scenario;
  const plans = typeof origins === 'function' ? origins(cell) : origins;
  const wait = waitOn(player.originClock);
  const targets = await Promise.all(plans.map((plan) => startTarget(t, plan, cell.back, wait)));
  const { dns } = scenario;
  const gateway = await startGateway(t, fileOf(scenario, cell, plans, targets), {
    // That of Node has timers of its own, and no HTTP/2 without TLS.
    server: 'own',
    clock: player.clock,
    random: () => 0,
    ...(dns === undefined ? {} : { resolve: () => resolved(dns) }),
  });
  const client = await (cell.front === '2' ? connectHttp2 : connectHttp1)(gateway.port);
  lockstep.join(player);
  try {
    return await Promise.race([player.stuck, playOn(player, { scenario, cell, targets, gateway, client })]);
  } finally {
    client.close();
    await gateway.close();
    await Promise.all(targets.map((target) => target.close()));
    lockstep.leave(player);
  }
}

interface Stage {
  readonly scenario: Scenario;
  readonly cell: Cell;
  readonly targets: readonly Target[];
  readonly gateway: RunningGateway;
  readonly client: WireClient;
}

async function playOn(player: CasePlayer, stage: Stage): Promise<Played> {
  const { scenario, cell, targets, gateway, client } = stage;
  const { warm = 0 } = scenario;
  for (let n = 0; n < warm; n += 1) {
    client.ask(get(warmPath), 0);
    await client.waitFor(() => client.heard.ending !== undefined, 'the answer to a request before');
    if (client.heard.status !== 200) throw new Error(`a request before was answered ${String(client.heard.status)}`);
    await player.quiet();
  }
  const asking = askingOf(scenario, cell.asked, fieldPairs(scenario.fields));
  const steps = scenario.client ?? [{ do: 'ask' }];
  for (const step of steps) await take(step, asking, player, stage, warm + 1);
  const isGone = steps.some((step) => step.do === 'leave');
  if (!isGone) await client.waitFor(() => client.heard.ending !== undefined, 'the end of the answer');
  const expected = typeof scenario.expect === 'function' ? scenario.expect(cell) : scenario.expect;
  const record = expected.unrecorded === true ? undefined : await gateway.record(warm + 1);
  const { heard } = client;
  await player.quiet();
  const left = [...leftInFlight(gateway)];
  const seen = targets.map((target) => [...target.seen]);
  client.close();
  const closing = gateway.close();
  for (const target of targets) target.readOn?.();
  await Promise.all([closing, player.quiet()]);
  left.push(...leftOpen(player, targets));
  return { heard, seen, record, records: [...gateway.records], diagnostics: gateway.diagnostics, left };
}

async function take(
  step: ClientStep,
  asking: Asking,
  player: CasePlayer,
  { client, targets, gateway }: Stage,
  recordNumber: number,
): Promise<void> {
  switch (step.do) {
    case 'ask':
      return client.ask(asking, step.bodyBytes ?? Infinity);
    case 'send-rest':
      return client.sendRest();
    case 'raw':
      return client.raw(step.bytes);
    case 'quiet':
      return player.quiet();
    case 'await-word':
      return client.waitFor(
        () => client.heard.interim.length > 0 || client.heard.ending !== undefined,
        'an interim response or the answer',
      );
    case 'await-head':
      return client.waitFor(
        () => client.heard.status !== 0 || client.heard.ending !== undefined,
        'the head of the answer',
      );
    case 'await-record':
      await gateway.record(recordNumber);
      return;
    case 'open-gate':
      for (const target of targets) target.openGate(step.gate);
      return;
    case 'leave':
      return client.leave(step.how);
    case 'half-close':
      return client.halfClose();
    case 'stop-reading':
      return client.stopReading();
    case 'read-on':
      return client.readOn();
  }
}

function resolved(addresses: readonly string[]): Promise<readonly string[]> {
  return addresses.length > 0
    ? Promise.resolve(addresses)
    : Promise.reject(new Error('queryA ENOTFOUND orders.internal'));
}

function fileOf(
  { route = boldest, upstream, limits, dns }: Scenario,
  { back }: Cell,
  plans: readonly OriginPlan[],
  targets: readonly Target[],
): FileObject {
  const tls = plans.some(({ kind }) => kind === 'tls') ? { tls: { ca: caFile(), serverName: 'localhost' } } : {};
  const named =
    dns === undefined ? {} : { endpoints: [{ dns: `orders.internal:${targets[0]!.address.split(':')[1]!}` }] };
  return gatewayFile(
    targets.map(({ address }) => address),
    {
      route,
      upstream: { protocol: back === '2' ? 'http2' : 'http1', ...tls, ...named, ...upstream },
      ...(limits === undefined ? {} : { limits }),
    },
  );
}

/** What one request must not hold after its end. */
function* leftInFlight({ state }: RunningGateway): Generator<string> {
  for (const { upstream } of state.upstreams.values()) {
    const { inflight } = upstream.permits;
    if (inflight > 0) yield `${String(inflight)} permits`;
    for (const { address, inflight: load } of upstream.endpoints) {
      const stats = upstream.transport.stats?.(address);
      if (stats === undefined) continue;
      if (stats.open > stats.idle) yield `${String(stats.open - stats.idle)} busy connections to an endpoint`;
      if (stats.waiting > 0) yield `${String(stats.waiting)} that wait for a connection`;
      if (load > 0) yield `a load of ${String(load)} on an endpoint`;
    }
  }
}

function* leftOpen({ clock }: CasePlayer, targets: readonly Target[]): Generator<string> {
  if (clock.pendingCount > 0) yield `${String(clock.pendingCount)} timers`;
  const openCount = targets.reduce((sum, target) => sum + target.openCount, 0);
  if (openCount > 0) yield `${String(openCount)} connections to origins`;
}
