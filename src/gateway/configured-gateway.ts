import type { GatewayConfig } from '../config/gateway-config.ts';
import type { AccessRecord } from '../proxy/access-record.ts';
import type { Proxy } from '../proxy/proxy.ts';
import { createProxy } from '../proxy/proxy.ts';
import type { Diagnostics } from '../proxy/proxy-state.ts';
import type { Clock } from '../transport/clock.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import { createSystemClock } from '../transport/system-time.ts';
import type { AccessLog } from './access-log.ts';
import { openAccessLog } from './access-log.ts';
import type { PreparedAdmin } from './admin/admin.ts';
import { Admin } from './admin/admin.ts';
import type { LiveGateway } from './admin/live-gateway.ts';
import type { GatewayState } from './build.ts';
import { buildState, commitState, prepareState, retireState } from './build.ts';
import type { Gateway, GatewayOptions, GatewayPhase } from './gateway.ts';
import type { ListenerSet } from './listener-set.ts';
import { createListenerSet } from './listener-set.ts';
import { createResizableMemory } from './resizable-memory.ts';
import { createRouteHooks } from './route-hooks.ts';
import { GatewayTracing } from './tracing.ts';
import type { TaskServices } from './upstream-tasks.ts';

const maxEarlyRecords = 1000;
const drainPollMs = 20;
/** For the spans of requests that were cut. */
const lastSpansMs = 500;

/** The live gateway: it owns what a configuration stands for, and hands it over to the next one. */
export class ConfiguredGateway implements Gateway {
  readonly #clock: Clock;
  readonly #diagnostics: Diagnostics | undefined;
  readonly #proxy: Proxy;
  readonly #admin: Admin;
  readonly #tracing: GatewayTracing;
  readonly #replayMemory: ReplayMemory;
  readonly #listeners: ListenerSet;
  #state: GatewayState;
  #accessLog: AccessLog | undefined;
  /** Of access logs that were replaced. */
  #lostLineCount = 0;
  /** Records of requests that were answered before the last listener was open: nothing is written before all are. */
  #early: AccessRecord[] = [];
  /** Reloads run one after another. */
  #turn: Promise<unknown> = Promise.resolve();
  #phase: GatewayPhase = 'starting';
  readonly #services: Partial<TaskServices>;

  constructor(config: GatewayConfig, options: GatewayOptions) {
    this.#clock = options.clock ?? createSystemClock();
    this.#diagnostics = options.diagnostics;
    this.#services = {
      ...(options.random === undefined ? {} : { random: options.random }),
      ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
      say: (message) => options.diagnostics?.('warn', message),
      tell: (event) => this.#admin.publish(event),
    };
    this.#state = buildState(config, this.#clock, undefined, this.#services);
    const hooks = createRouteHooks(
      () => this.#state,
      (record) => this.#log(record),
    );
    this.#replayMemory = createResizableMemory(() => this.#state.config.replayMemoryBytes);
    this.#admin = new Admin({
      live: () => this.#live(),
      clock: this.#clock,
      onError: (message) => options.diagnostics?.('error', message),
    });
    this.#tracing = new GatewayTracing(this.#clock, options.diagnostics);
    this.#proxy = createProxy(hooks, {
      replayMemory: this.#replayMemory,
      events: this.#admin,
      tracing: this.#tracing,
      ownership: () => this.#state.ownership,
      clock: this.#clock,
      random: options.random,
      diagnostics: options.diagnostics,
    });
    this.#listeners = createListenerSet(this.#proxy, this.#clock);
  }

  get addresses(): readonly string[] {
    return this.#phase === 'starting' || this.#phase === 'ready' ? this.#listeners.addresses : [];
  }

  get phase(): GatewayPhase {
    return this.#phase;
  }

  get adminAddress(): string | undefined {
    return this.#admin.address;
  }

  get config(): GatewayConfig {
    return this.#state.config;
  }

  get inflightCount(): number {
    return this.#proxy.inflightCount;
  }

  async start(): Promise<void> {
    const { config } = this.#state;
    const accessLog = openAccessLog(config.accessLog.path, this.#diagnostics);
    try {
      // First, so that probes see a gateway that is starting.
      (await this.#admin.prepare(config.admin)).commit();
      (await this.#tracing.prepare(config.tracing)).commit();
      await prepareState(this.#state);
      commitState(this.#state);
      const prepared = await this.#listeners.prepare(config.listeners);
      this.#accessLog = accessLog;
      prepared.commit(config.drainMs);
      if (this.#phase === 'starting') this.#phase = 'ready';
      for (const record of this.#early) accessLog.write(record);
      this.#early = [];
    } catch (error) {
      this.#admin.close();
      this.#tracing.close();
      retireState(this.#state);
      await accessLog.close();
      throw error;
    }
  }

  reload(config: GatewayConfig): Promise<void> {
    const done = this.#turn.then(() => this.#reload(config));
    this.#turn = done.then(
      () => this.#admin.reloaded(),
      (error: unknown) => this.refuseReload(error instanceof Error ? error.message : String(error)),
    );
    return done;
  }

  refuseReload(why: string): void {
    this.#admin.reloaded(why);
  }

  async #reload(config: GatewayConfig): Promise<void> {
    if (this.#phase === 'draining' || this.#phase === 'stopped')
      throw new Error('the gateway is stopping: its configuration is no longer changed');
    const previous = this.#state;
    const next = buildState(config, this.#clock, previous, this.#services);
    const { path } = config.accessLog;
    const accessLog = path === previous.config.accessLog.path ? undefined : openAccessLog(path, this.#diagnostics);
    let admin: PreparedAdmin | undefined;
    try {
      await prepareState(next, previous);
      admin = await this.#admin.prepare(config.admin);
      const tracing = await this.#tracing.prepare(config.tracing);
      const prepared = await this.#listeners.prepare(config.listeners);
      // From here on nothing can fail, and no request comes in between.
      commitState(next, previous);
      this.#state = next;
      prepared.commit(config.drainMs);
      admin.commit();
      tracing.commit();
    } catch (error) {
      admin?.undo();
      retireState(next, previous);
      await accessLog?.close();
      throw error;
    }
    if (accessLog === undefined) return;
    const replaced = this.#accessLog;
    this.#accessLog = accessLog;
    await replaced?.close();
    this.#lostLineCount += replaced?.lostCount ?? 0;
  }

  reopenAccessLog(): void {
    this.#accessLog?.reopen();
  }

  async drain(): Promise<boolean> {
    if (this.#phase !== 'stopped') this.#phase = 'draining';
    const { drainMs, drainDelayMs } = this.#state.config;
    this.#admin.drainBegan(drainDelayMs);
    if (drainDelayMs > 0) await this.#wait(drainDelayMs);
    const untilMs = this.#clock.nowMs() + drainMs;
    if (!(await this.#proxy.drain(drainMs))) return false;
    // The last bytes of an answer may still be on their way to a slow client: its connection closes when it has them.
    while (this.#listeners.connectionCount > 0 && this.#clock.nowMs() < untilMs) {
      await this.#wait(drainPollMs);
    }
    await this.#tracing.flush(untilMs - this.#clock.nowMs());
    return this.#listeners.connectionCount === 0;
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimer(delayMs, resolve);
    });
  }

  async stop(): Promise<void> {
    if (this.#phase !== 'stopped') this.#phase = 'draining';
    await this.#turn;
    await this.#proxy.close();
    this.#phase = 'stopped';
    this.#admin.close();
    await this.#tracing.flush(lastSpansMs);
    this.#tracing.close();
    retireState(this.#state);
    await this.#accessLog?.close();
    this.#accessLog = undefined;
  }

  #live(): LiveGateway {
    const { config, upstreams } = this.#state;
    return {
      config,
      phase: this.#phase,
      inflightCount: this.inflightCount,
      connectionCount: this.#listeners.connectionCount,
      refusedConnectionCounts: this.#proxy.refusedConnectionCounts,
      replayMemory: this.#replayMemory,
      lostLineCount: this.#lostLineCount + (this.#accessLog?.lostCount ?? 0),
      lostSpanCount: this.#tracing.lostCount,
      upstreams: Array.from(upstreams.values(), ({ upstream }) => upstream),
    };
  }

  #log(record: AccessRecord): void {
    this.#admin.record(record);
    if (this.#accessLog !== undefined) this.#accessLog.write(record);
    else if (this.#early.length < maxEarlyRecords) this.#early.push(record);
  }
}
