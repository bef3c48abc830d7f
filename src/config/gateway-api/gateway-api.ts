import type { ConfigFault } from '../fault.ts';
import type { GatewayConfig, ListenerConfig } from '../gateway-config.ts';
import { createBackends } from './backends.ts';
import type { ResourceCondition } from './condition.ts';
import { isTrouble } from './condition.ts';
import type { GatewayListener } from './listeners.ts';
import { readListeners } from './listeners.ts';
import type { Report } from './read-spec.ts';
import type { ManifestFile } from './resource.ts';
import { readResources } from './resource.ts';
import { readRoutes } from './routes.ts';
import type { Templates } from './templates.ts';
import { createTemplates } from './templates.ts';

export interface GatewayApiReading {
  /** `undefined` when no Gateway can be served: nothing must be started or replaced then. */
  readonly config: GatewayConfig | undefined;
  /** What a controller would write into the status of each resource. */
  readonly conditions: readonly ResourceCondition[];
  /** What cannot be read at all, fields without effect (errors), and what is passed over (warnings). */
  readonly faults: readonly ConfigFault[];
  /** Files that cannot be read, and resources (`HTTPRoute shop/orders`) that an API server would not have taken. */
  readonly refused: readonly string[];
}

/**
 * Reads Gateway API resources as a gateway configuration. A resource with faults does not take down the others: what can
 * be served is. Never throws for what stands in the files.
 * @param files In the order in which they count: of two resources with the same name the first holds.
 */
export function parseGatewayApi(files: readonly ManifestFile[]): GatewayApiReading {
  const { resources, faults, brokenFiles } = readResources(files);
  const report: Report = { conditions: [], faults: [...faults], refused: [...brokenFiles] };
  const templates = createTemplates();
  const listeners = readListeners(resources, report);
  const backends = createBackends(resources, templates, report);
  const routes = readRoutes(resources, listeners, backends, templates, report);
  return {
    config:
      listeners.length === 0
        ? undefined
        : { ...templates.config, listeners: addressesOf(listeners, templates), upstreams: backends.upstreams, routes },
    conditions: report.conditions,
    faults: report.faults,
    refused: report.refused,
  };
}

/** Whether something in the files is not in effect as it stands there. */
export function hasTrouble({ config, conditions, faults }: GatewayApiReading): boolean {
  return config === undefined || conditions.some(isTrouble) || faults.some(({ severity }) => severity === 'error');
}

/** Listeners that share an address and port are one entrance. */
function addressesOf(listeners: readonly GatewayListener[], { listener }: Templates): readonly ListenerConfig[] {
  const byKey = new Map<string, ListenerConfig>();
  for (const { addresses } of listeners)
    for (const address of addresses) byKey.set(address.key, { ...listener, name: address.key, address });
  return [...byKey.values()];
}
