import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { MulliganEvent } from '../core/observer.ts';
import type { EndpointOptions } from '../engine/endpoint.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { Clock } from '../transport/clock.ts';
import type { TlsSettings } from '../transport/tls-connect.ts';
import { endpointOptions, nameOptions } from './endpoint-options.ts';
import { createHealthChecks } from './health-check.ts';
import type { NameWatch } from './name-watch.ts';
import { createNameWatch } from './name-watch.ts';
import type { ResolveName } from './resolve-name.ts';

/** What the background work of upstreams needs from outside. */
export interface TaskServices {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly resolve: ResolveName;
  /** For people. */
  readonly say: (message: string) => void;
  readonly tell: (event: MulliganEvent) => void;
}

/** What goes on for an upstream besides requests: names that are asked for, health checks. */
export interface UpstreamTasks {
  readonly names: readonly NameWatch[];
  /** For people: why there is no address, when there is none. */
  whyEmpty(): string;
  /** Asks for every name once. Never rejects; a name that cannot be answered is told and asked for again later. */
  prepare(): Promise<void>;
  /** @param replaced The upstream that this one takes the place of: what is known of addresses that stay is kept. */
  start(upstream: Upstream, replaced: Upstream | undefined): void;
  stop(): void;
}

/**
 * @param previous Those of the upstream that is replaced: their last good addresses are better than none.
 * @param tls How its connections are secured; `undefined`: plain text.
 */
export function createUpstreamTasks(
  config: UpstreamConfig,
  services: TaskServices,
  previous?: UpstreamTasks,
  tls?: TlsSettings,
): UpstreamTasks {
  const isEncrypted = tls !== undefined;
  const names = config.dnsEndpoints.map(({ name, refreshMs }) =>
    createNameWatch({
      ...services,
      host: name.host,
      refreshMs,
      say: (message) => services.say(`upstream ${config.name}: ${message}`),
      previous: previous?.names.find(({ host }) => host === name.host),
    }),
  );
  const wanted = (): EndpointOptions[] => {
    const all = config.endpoints.map((endpoint) => endpointOptions(endpoint, isEncrypted));
    config.dnsEndpoints.forEach((settings, index) =>
      all.push(...nameOptions(settings, names[index]!.addresses, isEncrypted)),
    );
    const seen = new Set<string>();
    return all.filter(({ address }) => !seen.has(address.key) && seen.add(address.key));
  };
  let stop = (): void => {};
  return {
    names,
    whyEmpty: () =>
      names.map(({ host, problem }) => `${host}: ${problem ?? 'its addresses are not known yet'}`).join('; '),
    async prepare() {
      await Promise.all(names.map((name) => name.ask()));
    },
    start(upstream, replaced) {
      upstream.setEndpoints(wanted(), replaced?.endpoints);
      const { healthCheck } = config;
      const checks =
        healthCheck === undefined
          ? undefined
          : createHealthChecks(upstream, healthCheck, { ...services, protocol: config.protocol, tls });
      // Nobody would ever take back what checks of an earlier configuration said.
      if (checks === undefined)
        for (const endpoint of upstream.endpoints) if (!endpoint.healthy) upstream.judge(endpoint, { healthy: true });
      checks?.sync();
      for (const name of names)
        name.start(() => {
          upstream.setEndpoints(wanted());
          checks?.sync();
        });
      stop = () => {
        checks?.stop();
        for (const name of names) name.stop();
      };
    },
    stop: () => stop(),
  };
}
