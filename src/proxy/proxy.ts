import { randomBytes } from 'node:crypto';
import { describeFailure } from '../core/failure-chain.ts';
import type { EventChannel } from '../core/observer.ts';
import type { RetryBudgetOptions } from '../core/retry-budget.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import { parseAddress } from '../engine/endpoint.ts';
import type { Selection } from '../engine/run-host.ts';
import type { Upstream } from '../engine/upstream.ts';
import { createUpstream } from '../engine/upstream.ts';
import type { Clock } from '../transport/clock.ts';
import { createHttp1Transport } from '../transport/http1/http1-transport.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import { createReplayMemory } from '../transport/body/replay-memory.ts';
import { createSystemClock } from '../transport/system-time.ts';
import type { AccessRecord } from './access-record.ts';
import type { ClientPeer } from './client-peer.ts';
import { createDefaultPlan } from './default-plan.ts';
import type {
  ConnectionRefusal,
  Downstream,
  ListenAddress,
  Listener,
  ListenerEngine,
  ListenerLimits,
  RequestSink,
} from './downstream.ts';
import { DEFAULT_LISTENER_LIMITS } from './downstream.ts';
import { ProxyExchange } from './exchange/exchange.ts';
import { HOP_NAME } from './headers.ts';
import { thrownFailure } from './exchange/hook-error.ts';
import { listenHttp1 } from './listener/http1-listener.ts';
import { parseListenAddress } from './listener/listen-address.ts';
import type { OwnershipRules } from './ownership-rules.ts';
import type { ProxyHooks, UpstreamChoice } from './phases.ts';
import type { ExchangePlan, ExchangeTimeouts } from './plan.ts';
import type { Diagnostics, ProxyState } from './proxy-state.ts';
import type { Tracing } from './request-trace.ts';
import type { ListenerTls } from './listener/tls-settings.ts';

/** What holds for all requests of a proxy, where a filter says nothing else. */
export interface ProxyOptions {
  /** For requests whose filter sets no plan. Default: one retry of unsent, rejected and stale failures. */
  readonly policy?: RetryPolicy | undefined;
  /** In milliseconds; 0 switches one off. Defaults: see `ExchangeTimeouts`. */
  readonly timeouts?: Partial<ExchangeTimeouts> | undefined;
  /** Bytes of a request body kept for another attempt. Default 65 536. */
  readonly replayBufferBytes?: number | undefined;
  /** Bytes kept by all requests together: a number, or a memory shared with other proxies. Default 64 MiB. */
  readonly replayMemory?: number | ReplayMemory | undefined;
  /** Of every listener. Defaults: see `ListenerLimits`. */
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** Of each upstream that `selectUpstream` names by address. Default: see `createRetryBudget`. */
  readonly budget?: RetryBudgetOptions | undefined;
  /** Lines for people, one a retry and one a failed request. Default: none. */
  readonly diagnostics?: Diagnostics | undefined;
  /** Every access record, before the `log` hook. */
  readonly onRecord?: ((record: AccessRecord) => void) | undefined;
  /** What happens to requests while it happens: retries, why there were no more, ends. */
  readonly events?: EventChannel | undefined;
  /** Follows requests and gives each attempt a trace context of its own. Default: trace contexts pass unchanged. */
  readonly tracing?: Tracing | undefined;
  /**
   * Whether `Request-Attempt` and `Request-Timeout` of this peer are believed; those of others are taken out before the first
   * hook. When it throws, the peer is not trusted. Default: of everybody, for they can only take attempts and time away.
   */
  readonly trustsPeer?: ((peer: ClientPeer) => boolean) | undefined;
  /** Default: the system’s. */
  readonly clock?: Clock | undefined;
  /**
   * With whom requests take part in error ownership, whose filter sets no plan; a function is asked once a request, also for
   * one that no filter sees. Default: with nobody, and no claim passes.
   */
  readonly ownership?: OwnershipRules | (() => OwnershipRules | undefined) | undefined;
  /** Uniform in [0, 1). */
  readonly random?: (() => number) | undefined;
}

/** How a listener treats its clients. */
export interface ListenOptions {
  /** `own` is the strict server of this package; `node` is `node:http`, the safe mode. Default `own`. */
  readonly server?: ListenerEngine | undefined;
  /** Beside those of the proxy. Defaults: see `ListenerLimits`. */
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** Encrypted, with HTTP/2 for clients that ask for it. Default: not encrypted. */
  readonly tls?: ListenerTls | undefined;
  /** What requests of this listener say where they came in: `ProxyRequest.listener`. */
  readonly name?: string | undefined;
}

/** A proxy that listens, or will. */
export interface Proxy {
  /** @throws the system's error when the address cannot be bound */
  listen(address: ListenAddress | string, options?: ListenOptions): Promise<Listener>;
  /** Requests under way. */
  readonly inflightCount: number;
  /** Connections that were closed for what their clients did, by the reason. */
  readonly refusedConnectionCounts: ReadonlyMap<ConnectionRefusal, number>;
  /** No new connections or requests; resolves when the last request ended, or after `graceMs`. True: all ended. */
  drain(graceMs: number): Promise<boolean>;
  /** Cuts what is left and closes every connection. */
  close(): Promise<void>;
}

/**
 * A programmable reverse proxy: user code at every step, the retry loop in between.
 * @throws RangeError for an option outside its range
 */
export function createProxy<Context = undefined>(hooks: ProxyHooks<Context>, options: ProxyOptions = {}): Proxy {
  return new ProgrammableProxy(hooks, options);
}

class ProgrammableProxy<Context> implements Proxy, ProxyState<Context> {
  readonly hooks: ProxyHooks<Context>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly replayMemory: ReplayMemory;
  readonly diagnostics: Diagnostics | undefined;
  readonly onRecord: ((record: AccessRecord) => void) | undefined;
  readonly events: EventChannel | undefined;
  readonly tracing: Tracing | undefined;
  /** Of this proxy alone: with the name of the product a chain of proxies would look like a loop. */
  readonly pseudonym: string = `${HOP_NAME}-${randomBytes(4).toString('hex')}`;
  inflightCount = 0;
  readonly refusedConnectionCounts: Map<ConnectionRefusal, number> = new Map();

  readonly #plan: () => ExchangePlan;
  readonly #trustsPeer: ((peer: ClientPeer) => boolean) | undefined;
  readonly #limits: ListenerLimits;
  readonly #budget: RetryBudgetOptions | undefined;
  readonly #listeners: Listener[] = [];
  readonly #named = new Map<string, Upstream>();
  #idle: (() => void) | undefined;
  #lastRequestId = 0;

  constructor(hooks: ProxyHooks<Context>, options: ProxyOptions) {
    this.hooks = hooks;
    this.clock = options.clock ?? createSystemClock();
    this.random = options.random ?? Math.random;
    const memory = options.replayMemory ?? 64 * 1024 * 1024;
    this.replayMemory = typeof memory === 'number' ? createReplayMemory(memory) : memory;
    this.diagnostics = options.diagnostics;
    this.onRecord = options.onRecord;
    this.events = options.events;
    this.tracing = options.tracing;
    this.#trustsPeer = options.trustsPeer;
    this.#budget = options.budget;
    this.#limits = { ...DEFAULT_LISTENER_LIMITS, ...options.limits };
    this.#plan = createDefaultPlan(options, (error) => this.hookFault(error));
  }

  get plan(): ExchangePlan {
    return this.#plan();
  }

  async listen(address: ListenAddress | string, options: ListenOptions = {}): Promise<Listener> {
    const where = typeof address === 'string' ? parseListenAddress(address) : address;
    const limits = { ...this.#limits, ...options.limits };
    // node:http is loaded where somebody asks for it: it takes 12 MB.
    const open =
      options.server === 'node' ? (await import('./listener/node-http-listener.ts')).listenNodeHttp : listenHttp1;
    const listener = await open(where, this.#sinkOf(options.name), limits, this.clock, options.tls);
    this.#listeners.push(listener);
    return listener;
  }

  #sinkOf(listener: string | undefined): RequestSink {
    const exchange = (downstream: Downstream): ProxyExchange<Context> => {
      this.inflightCount += 1;
      return new ProxyExchange(this, downstream, listener);
    };
    return {
      request: (downstream) => exchange(downstream).start(),
      refused: (downstream, status, detail) => exchange(downstream).refuse(status, detail),
      connectionRefused: (reason, remoteAddress, detail) => this.#connectionRefused(reason, remoteAddress, detail),
    };
  }

  #connectionRefused(reason: ConnectionRefusal, remoteAddress: string, detail: string): void {
    this.refusedConnectionCounts.set(reason, (this.refusedConnectionCounts.get(reason) ?? 0) + 1);
    this.diagnostics?.(
      'warn',
      `closed a connection of ${remoteAddress}: ${reason}${detail === '' ? '' : ` (${detail})`}`,
    );
  }

  trustsPeer(peer: ClientPeer): boolean {
    if (this.#trustsPeer === undefined) return true;
    try {
      return this.#trustsPeer(peer);
    } catch (error) {
      this.diagnostics?.('error', `trustsPeer failed, and the peer is not trusted: ${String(error)}`);
      return false;
    }
  }

  nextRequestId(): number {
    this.#lastRequestId += 1;
    return this.#lastRequestId;
  }

  exchangeEnded(): void {
    this.inflightCount -= 1;
    if (this.inflightCount === 0) this.#idle?.();
  }

  async drain(graceMs: number): Promise<boolean> {
    for (const listener of this.#listeners) listener.drain();
    if (this.inflightCount === 0) return true;
    const ended = new Promise<boolean>((resolve) => {
      const timer = this.clock.setTimer(graceMs, () => resolve(false));
      this.#idle = () => {
        timer.cancel();
        resolve(true);
      };
    });
    return ended;
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    for (const upstream of this.#named.values()) upstream.close();
  }

  resolveChoice(choice: UpstreamChoice | undefined): Selection | undefined {
    if (choice === undefined) return undefined;
    if (typeof choice === 'string') return { upstream: this.#upstreamOf(choice, [choice]) };
    if (isAddressList(choice)) return { upstream: this.#upstreamOf(choice.join(','), choice) };
    return 'endpoint' in choice ? choice : { upstream: choice };
  }

  hookFault(error: unknown): void {
    this.diagnostics?.('error', `${describeFailure(thrownFailure(error))}; the request went on without it`);
  }

  #upstreamOf(name: string, addresses: readonly string[]): Upstream {
    let upstream = this.#named.get(name);
    if (upstream === undefined) {
      const endpoints = addresses.map((address) => ({ address: parseAddress(address) }));
      const transport = createHttp1Transport({ clock: this.clock });
      upstream = createUpstream({ name, endpoints, transport, budget: createRetryBudget(this.#budget) });
      this.#named.set(name, upstream);
    }
    return upstream;
  }
}

function isAddressList(choice: Exclude<UpstreamChoice, string>): choice is readonly string[] {
  return Array.isArray(choice);
}
