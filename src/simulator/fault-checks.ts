import type { DataFault, DataPath } from '../config/fault.ts';
import { printable } from '../config/fault.ts';
import { suggest } from '../config/nearest-name.ts';
import type { Mapping } from '../config/plain-data.ts';
import { durationMs, isMapping, list, mapping } from '../config/plain-data.ts';
import type { OperationNames } from './operation-names.ts';

const EFFECTS = ['errorPercent', 'outage', 'capacityPercent', 'latency'] as const;
/** What concerns a server as a whole. */
const SERVICE_EFFECTS: ReadonlySet<string> = new Set(['outage', 'capacityPercent']);

/** Faults of the entries of `faults`: each needs one place and one effect that can be there. */
export function faultFaults(file: Mapping, names: OperationNames): DataFault[] {
  const services = mapping(file['services']);
  const runMs = durationMs(mapping(file['workload'])['duration'], '60s');
  const faults: DataFault[] = [];
  for (const [index, value] of list(file['faults']).entries()) {
    if (!isMapping(value)) continue;
    const path = ['faults', index];
    faults.push(...placeFaults(path, value, services, names));
    faults.push(...effectFaults(path, value, services), ...timeFaults(path, value, runMs));
  }
  return faults;
}

function placeFaults(path: DataPath, fault: Mapping, services: Mapping, names: OperationNames): DataFault[] {
  const { service, operation, instances } = fault;
  if (service === undefined && operation === undefined)
    return [{ path, message: 'says no place', hint: 'add `service:` or `operation:`' }];
  if (service !== undefined && operation !== undefined)
    return [{ path: [...path, 'operation'], message: 'cannot stand beside `service`', hint: 'keep one of the two' }];
  if (typeof operation === 'string') {
    if (names.resolve(operation) === undefined) return [names.fault([...path, 'operation'], operation)];
    if (instances === undefined) return [];
    return [{ path: [...path, 'instances'], message: 'needs a `service`', hint: 'an instance is sick as a whole' }];
  }
  if (typeof service !== 'string') return [];
  if (!isMapping(services[service])) {
    const message = `"${printable(service)}" is not a service of this file`;
    return [{ path: [...path, 'service'], message, hint: suggest(service, Object.keys(services)) }];
  }
  const { instances: all = 1 } = services[service];
  if (typeof instances !== 'number' || typeof all !== 'number' || instances <= all) return [];
  const hint = `${service} has ${all} instance${all === 1 ? '' : 's'}`;
  return [{ path: [...path, 'instances'], message: 'is more than there are', hint }];
}

function effectFaults(path: DataPath, fault: Mapping, services: Mapping): DataFault[] {
  const given = EFFECTS.filter((effect) => fault[effect] !== undefined);
  const [effect, second] = given;
  if (effect === undefined) return [{ path, message: 'does nothing', hint: `add one of ${EFFECTS.join(', ')}` }];
  if (second !== undefined)
    return [{ path: [...path, second], message: `cannot stand beside \`${effect}\``, hint: 'write two faults' }];
  if (fault['status'] !== undefined && effect !== 'errorPercent')
    return [{ path: [...path, 'status'], message: 'needs `errorPercent`', hint: 'remove it' }];
  if (fault['operation'] !== undefined && SERVICE_EFFECTS.has(effect))
    return [{ path: [...path, effect], message: 'needs a `service`', hint: 'a server has it as a whole' }];
  const { service } = fault;
  if (effect !== 'capacityPercent' || typeof service !== 'string' || !isMapping(services[service])) return [];
  if (services[service]['capacity'] !== undefined) return [];
  const hint = `give ${service} a \`capacity\` first`;
  return [{ path: [...path, effect], message: 'has no capacity to cut', hint }];
}

function timeFaults(path: DataPath, fault: Mapping, runMs: number | undefined): DataFault[] {
  const atMs = durationMs(fault['at'], '0s');
  if (atMs === undefined || runMs === undefined || atMs < runMs) return [];
  const hint = 'make `workload.duration` longer, or let it begin earlier';
  return [{ severity: 'warning', path: [...path, 'at'], message: 'is after the end of the run', hint }];
}
