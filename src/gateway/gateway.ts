import type { GatewayConfig } from '../config/gateway-config.ts';
import type { AccessRecord } from '../proxy/access-record.ts';
import type { Proxy } from '../proxy/proxy.ts';
import { createProxy } from '../proxy/proxy.ts';
import type { Diagnostics } from '../proxy/proxy-state.ts';
import type { Clock } from '../transport/clock.ts';
import { createReplayMemory } from '../transport/replay-memory.ts';
import type { ReplayMemory } from '../transport/replay-memory.ts';
import { createSystemClock } from '../transport/system-time.ts';
import type { AccessLog } from './access-log.ts';
import { createAccessLog } from './access-log.ts';
import type { GatewayState } from './build.ts';
import { buildState, replacedUpstreams } from './build.ts';
import type { ListenerSet } from './listener-set.ts';
import { createListenerSet } from './listener-set.ts';
import { createRouteHooks } from './route-hooks.ts';

export interface GatewayOptions {
  /** Lines for people: one a retry, one a failed request, and what the gateway itself has to say. Default: none. */
  readonly diagnostics?: Diagnostics | undefined;
  readonly clock?: Clock | undefined;
  /** Uniform in [0, 1). */
  readonly random?: (() => number) | undefined;
}

export interface Gateway {
  /** `host:port` of each open listener, with the real port. Empty before `start` and after `stop`. */
  readonly addresses: readonly string[];
  readonly config: GatewayConfig;
  /** Requests under way. */
  readonly inflightCount: number;
  /**
   * Opens the access log and every listener.
   * @throws ListenError when an address cannot be opened, Error when the access log cannot; nothing is open then
   */
  start(): Promise<void>;
  /**
   * Takes another configuration into use, whole or not at all. What did not change keeps its live state; requests under
   * way end under the configuration they began with, their retries too.
   * @throws as `start`; the old configuration goes on then
   */
  reload(config: GatewayConfig): Promise<void>;
  /** No new connections or requests; resolves when the last request ended, or after `shutdown.drain`. True: all ended. */
  drain(): Promise<boolean>;
  /** Cuts what is left, closes every connection and writes the rest of the access log. */
  stop(): Promise<void>;
}

/**
 * A gateway from a configuration of `parseConfig`.
 * @throws RangeError when the configuration was not made by `parseConfig` and holds a value out of range
 */
export function createGateway(config: GatewayConfig, options: GatewayOptions = {}): Gateway {
  return new ConfiguredGateway(config, options);
}

const maxEarlyRecords = 1000;
const drainPollMs = 20;

class ConfiguredGateway implements Gateway {
  readonly #clock: Clock;
  readonly #diagnostics: Diagnostics | undefined;
  readonly #proxy: Proxy;
  readonly #listeners: ListenerSet;
  #state: GatewayState;
  #accessLog: AccessLog | undefined;
  /** Records of requests that were answered before the last listener was open: nothing is written before all are. */
  #early: AccessRecord[] = [];
  /** Reloads run one after another. */
  #turn: Promise<unknown> = Promise.resolve();
  #stopping = false;

  constructor(config: GatewayConfig, options: GatewayOptions) {
    this.#clock = options.clock ?? createSystemClock();
    this.#diagnostics = options.diagnostics;
    this.#state = buildState(config, this.#clock);
    const hooks = createRouteHooks(
      () => this.#state,
      (record) => this.#log(record),
    );
    this.#proxy = createProxy(hooks, {
      replayMemory: resizableMemory(() => this.#state.config.replayMemoryBytes),
      clock: this.#clock,
      random: options.random,
      diagnostics: options.diagnostics,
    });
    this.#listeners = createListenerSet(this.#proxy, this.#clock);
  }

  get addresses(): readonly string[] {
    return this.#stopping ? [] : this.#listeners.addresses;
  }

  get config(): GatewayConfig {
    return this.#state.config;
  }

  get inflightCount(): number {
    return this.#proxy.inflightCount;
  }

  async start(): Promise<void> {
    const { config } = this.#state;
    const accessLog = this.#openAccessLog(config.accessLog.path);
    try {
      const prepared = await this.#listeners.prepare(config.listeners);
      this.#accessLog = accessLog;
      prepared.commit(config.drainMs);
      for (const record of this.#early) accessLog.write(record);
      this.#early = [];
    } catch (error) {
      await accessLog.close();
      throw error;
    }
  }

  reload(config: GatewayConfig): Promise<void> {
    const done = this.#turn.then(() => this.#reload(config));
    this.#turn = done.catch(() => {});
    return done;
  }

  async #reload(config: GatewayConfig): Promise<void> {
    if (this.#stopping) throw new Error('the gateway is stopping: its configuration is no longer changed');
    const previous = this.#state;
    const next = buildState(config, this.#clock, previous);
    const { path } = config.accessLog;
    const accessLog = path === previous.config.accessLog.path ? undefined : this.#openAccessLog(path);
    try {
      const prepared = await this.#listeners.prepare(config.listeners);
      this.#state = next;
      prepared.commit(config.drainMs);
    } catch (error) {
      for (const upstream of replacedUpstreams(next, previous)) upstream.close();
      await accessLog?.close();
      throw error;
    }
    // Requests under way end on the connections they have.
    for (const upstream of replacedUpstreams(previous, next)) upstream.close();
    if (accessLog === undefined) return;
    const replaced = this.#accessLog;
    this.#accessLog = accessLog;
    await replaced?.close();
  }

  async drain(): Promise<boolean> {
    this.#stopping = true;
    const { drainMs } = this.#state.config;
    const untilMs = this.#clock.nowMs() + drainMs;
    if (!(await this.#proxy.drain(drainMs))) return false;
    // The last bytes of an answer may still be on their way to a slow client: its connection closes when it has them.
    while (this.#listeners.connectionCount > 0 && this.#clock.nowMs() < untilMs) {
      await new Promise<void>((resolve) => {
        this.#clock.setTimer(drainPollMs, resolve);
      });
    }
    return this.#listeners.connectionCount === 0;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#turn;
    await this.#proxy.close();
    for (const { upstream } of this.#state.upstreams.values()) upstream.close();
    await this.#accessLog?.close();
    this.#accessLog = undefined;
  }

  #log(record: AccessRecord): void {
    if (this.#accessLog !== undefined) this.#accessLog.write(record);
    else if (this.#early.length < maxEarlyRecords) this.#early.push(record);
  }

  #openAccessLog(path: string): AccessLog {
    try {
      return createAccessLog(path, (reason, lostCount) => {
        this.#diagnostics?.(
          'error',
          `access log ${path}: ${lostCount} ${lostCount === 1 ? 'line' : 'lines'} lost so far: ${reason}`,
        );
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `cannot open the access log ${path}: ${why}; create its directory, or give accessLog.path another place`,
        { cause: error },
      );
    }
  }
}

/** A memory whose limit a reload can change. */
function resizableMemory(limitBytes: () => number): ReplayMemory {
  const memory = createReplayMemory(Infinity);
  return {
    get limitBytes() {
      return limitBytes();
    },
    get usedBytes() {
      return memory.usedBytes;
    },
    tryReserve: (bytes) => memory.usedBytes + bytes <= limitBytes() && memory.tryReserve(bytes),
    reserve: (bytes) => memory.reserve(bytes),
    release: (bytes) => memory.release(bytes),
  };
}
