import type { HealthCheckConfig } from '../config/gateway-config.ts';
import type { EndpointHealthChanged } from '../core/observer.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { Clock, Timer } from '../transport/clock.ts';
import type { Transport } from '../transport/transport.ts';
import { createTransport } from '../transport/create-transport.ts';
import type { TransportProtocol } from '../transport/create-transport.ts';
import type { TlsSettings } from '../transport/tls-connect.ts';
import { checkHealth } from './health-question.ts';

export interface HealthCheckOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** For people: an endpoint became unhealthy or healthy, and when all are unhealthy. */
  readonly say: (message: string) => void;
  readonly tell: (event: EndpointHealthChanged) => void;
  /** What the endpoints speak. */
  readonly protocol: TransportProtocol | undefined;
  readonly tls: TlsSettings | undefined;
}

/**
 * Asks every endpoint of an upstream whether it is well, one question at a time each, on connections of its own: a check
 * takes no permit, no place in the pool, no budget, and leaves no access record.
 * An endpoint counts as healthy until `unhealthyAfter` checks in a row said otherwise.
 */
export interface HealthChecks {
  /** Checks the upstream's endpoints of now, and no others. */
  sync(): void;
  stop(): void;
}

export function createHealthChecks(
  upstream: Upstream,
  config: HealthCheckConfig,
  options: HealthCheckOptions,
): HealthChecks {
  const { clock, protocol, tls } = options;
  const transport = createTransport({ clock, protocol, tls, maxRequestsPerConnection: 1 });
  const checked = new Map<Endpoint, EndpointCheck>();
  return {
    sync() {
      for (const [endpoint, check] of checked) {
        if (upstream.endpoints.includes(endpoint)) continue;
        check.stop();
        checked.delete(endpoint);
      }
      for (const endpoint of upstream.endpoints)
        if (!checked.has(endpoint))
          checked.set(endpoint, new EndpointCheck(upstream, endpoint, config, options, transport));
    },
    stop() {
      for (const check of checked.values()) check.stop();
      checked.clear();
      transport.close();
    },
  };
}

class EndpointCheck {
  readonly #upstream: Upstream;
  readonly #endpoint: Endpoint;
  readonly #config: HealthCheckConfig;
  readonly #options: HealthCheckOptions;
  readonly #transport: Transport;
  /** Checks in a row that spoke against the endpoint's present state. */
  #against = 0;
  #timer: Timer;
  #abort: (() => void) | undefined;

  constructor(
    upstream: Upstream,
    endpoint: Endpoint,
    config: HealthCheckConfig,
    options: HealthCheckOptions,
    transport: Transport,
  ) {
    this.#upstream = upstream;
    this.#endpoint = endpoint;
    this.#config = config;
    this.#options = options;
    this.#transport = transport;
    // Scattered, or every gateway and every endpoint would be checked in the same moment.
    this.#timer = this.#after(config.intervalMs * options.random());
  }

  stop(): void {
    this.#timer.cancel();
    this.#abort?.();
  }

  #after(delayMs: number): Timer {
    const timer = this.#options.clock.setTimer(delayMs, () => this.#ask());
    timer.unref();
    return timer;
  }

  #ask(): void {
    const { clock } = this.#options;
    const startedAtMs = clock.nowMs();
    this.#abort = checkHealth(this.#transport, this.#endpoint, this.#config, clock, (problem) => {
      this.#abort = undefined;
      this.#timer = this.#after(Math.max(0, startedAtMs + this.#config.intervalMs - clock.nowMs()));
      this.#count(problem);
    });
  }

  #count(problem: string | undefined): void {
    const endpoint = this.#endpoint;
    const healthy = problem === undefined;
    if (healthy === endpoint.healthy) {
      this.#against = 0;
      return;
    }
    this.#against += 1;
    if (this.#against < (healthy ? this.#config.healthyAfter : this.#config.unhealthyAfter)) return;
    this.#against = 0;
    this.#judge(healthy, problem);
  }

  #judge(healthy: boolean, problem: string | undefined): void {
    const upstream = this.#upstream;
    const wasPanicking = upstream.panicking;
    upstream.judge(this.#endpoint, { healthy });
    this.#options.tell({
      type: 'endpoint-health-changed',
      atMs: this.#options.clock.wallMs(),
      upstream: upstream.name,
      endpoint: this.#endpoint.address.key,
      healthy,
      why: problem ?? 'its health checks succeed',
    });
    const name = `upstream ${upstream.name}: ${this.#endpoint.address.key}`;
    this.#options.say(healthy ? `${name} is healthy again` : `${name} is unhealthy: ${problem ?? ''}`);
    if (upstream.panicking && !wasPanicking)
      this.#options.say(`upstream ${upstream.name}: no endpoint is left: all are used all the same (panic rule)`);
  }
}
