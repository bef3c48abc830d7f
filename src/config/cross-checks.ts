import { adminFaults } from './admin-checks.ts';
import type { DataFault } from './fault.ts';
import { printable } from './fault.ts';
import { listenerFaults } from './listener-checks.ts';
import { ownershipFaults } from './ownership-checks.ts';
import type { Mapping } from './plain-data.ts';
import { isMapping, list, mapping } from './plain-data.ts';
import { routeFaults } from './route-checks.ts';
import type { TlsFiles } from './tls-files.ts';
import { tracingFaults } from './tracing-checks.ts';
import { upstreamNames } from './route-target-checks.ts';
import { defaultRouteName } from './to-config.ts';
import { unreachableRoutes } from './unreachable-routes.ts';
import { upstreamFaults } from './upstream-checks.ts';

/**
 * What no single setting can know: settings that contradict each other, names that lead nowhere. They look at the plain
 * data, not at the schema's result, so that they run (and report) also when the schema found faults elsewhere.
 */
export function crossChecks(data: unknown, files?: TlsFiles): DataFault[] {
  const file = mapping(data);
  const upstreams = mapping(file['upstreams']);
  const faults: DataFault[] = [...listenerFaults(list(file['listeners']), files)];
  if (isMapping(file['admin'])) faults.push(...adminFaults(file['admin'], list(file['listeners'])));
  faults.push(...ownershipFaults(file));
  if (isMapping(file['tracing'])) faults.push(...tracingFaults(file['tracing']));
  for (const [name, value] of Object.entries(upstreams)) faults.push(...upstreamFaults(name, mapping(value), files));
  if (isMapping(file['upstreams']) && Object.keys(upstreams).length === 0)
    faults.push({
      path: ['upstreams'],
      message: 'is empty',
      hint: 'for example { orders: { endpoints: [127.0.0.1:9001] } }',
    });
  const routes = list(file['routes']);
  const names = new Map<string, number>();
  routes.forEach((value, index) => {
    const route = mapping(value);
    faults.push(...routeFaults(['routes', index], route, upstreams, isMapping(file['upstreams'])));
    const name = typeof route['name'] === 'string' ? route['name'] : defaultRouteName(index);
    const first = names.get(name);
    if (first === undefined) names.set(name, index);
    else
      faults.push({
        path: ['routes', index, 'name'],
        message: `"${printable(name)}" is the name of routes[${first}] too`,
        hint: 'give each route a name of its own: records tell them apart by it',
      });
  });
  faults.push(...unreachableRoutes(routes), ...unusedUpstreams(upstreams, routes));
  return faults;
}

function unusedUpstreams(upstreams: Mapping, routes: readonly unknown[]): DataFault[] {
  const used = new Set(routes.flatMap((route) => upstreamNames(mapping(route)['upstream'])));
  return Object.keys(upstreams)
    .filter((name) => !used.has(name) && routes.length > 0)
    .map((name) => ({
      severity: 'warning',
      path: ['upstreams', name],
      atKey: true,
      message: 'is used by no route',
      hint: 'remove it, or name it as the upstream of a route',
    }));
}
