import type { GatewayConfig } from '../config/gateway-config.ts';
import type { Diagnostics } from '../proxy/proxy-state.ts';
import type { Clock } from '../transport/clock.ts';
import { ConfiguredGateway } from './configured-gateway.ts';
import type { ResolveName } from './resolve-name.ts';

export interface GatewayOptions {
  /** Lines for people: one a retry, one a failed request, and what the gateway itself has to say. Default: none. */
  readonly diagnostics?: Diagnostics | undefined;
  readonly clock?: Clock | undefined;
  /** Uniform in [0, 1). */
  readonly random?: (() => number) | undefined;
  /** Default: the system's resolver. */
  readonly resolve?: ResolveName | undefined;
}

/** `draining` also while nothing new is taken and what is left is about to be cut. */
export type GatewayPhase = 'starting' | 'ready' | 'draining' | 'stopped';

export interface Gateway {
  /** `host:port` of each open listener, with the real port. Empty before `start` and after `stop`. */
  readonly addresses: readonly string[];
  /** Of the admin interface, with the real port; undefined while there is none. */
  readonly adminAddress: string | undefined;
  readonly config: GatewayConfig;
  readonly phase: GatewayPhase;
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
  /** A configuration was offered that cannot even be read: counted and told like one that `reload` refuses. */
  refuseReload(why: string): void;
  /** Opens the access log anew: whoever rotates logs moves the file away first. No line is lost. */
  reopenAccessLog(): void;
  /**
   * Withdraws readiness, waits `shutdown.delay`, then takes no new connections or requests; resolves when the last
   * request ended, or after `shutdown.drain`. True: all ended.
   */
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
