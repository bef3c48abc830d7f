import type { GatewayConfig, ListenerConfig, RouteConfig, UpstreamConfig } from '../gateway-config.ts';
import { gatewayFile } from '../schema.ts';
import { toConfig } from '../to-config.ts';

/** A configuration and its parts with every default of a gateway file: what no resource can say is as it is there. */
export interface Templates {
  readonly config: GatewayConfig;
  readonly listener: ListenerConfig;
  readonly upstream: UpstreamConfig;
  readonly route: RouteConfig;
}

export function createTemplates(): Templates {
  const config = toConfig(
    gatewayFile.parse({
      listeners: [{ address: '127.0.0.1:0' }],
      upstreams: { any: { endpoints: ['127.0.0.1:1'] } },
      routes: [{ upstream: 'any' }],
    }),
  );
  return { config, listener: config.listeners[0]!, upstream: config.upstreams[0]!, route: config.routes[0]! };
}
