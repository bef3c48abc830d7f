import type { DataFault, DataPath } from '../config/fault.ts';
import type { Mapping } from '../config/plain-data.ts';
import { isMapping, list, mapping } from '../config/plain-data.ts';
import { readDuration } from '../config/quantity.ts';
import { namePattern } from '../config/schema-parts.ts';
import { callRuleFaults } from './call-rules.ts';
import { callGraphFaults } from './call-graph-checks.ts';
import { faultFaults } from './fault-checks.ts';
import { OperationNames } from './operation-names.ts';
import { readWork } from './work-time.ts';

/**
 * What no single setting of a topology can know: names that lead nowhere, forms that exclude each other, circles of calls.
 * They look at the plain data, so that they run also when the schema found faults elsewhere.
 */
export function topologyChecks(data: unknown): DataFault[] {
  const file = mapping(data);
  const services = mapping(file['services']);
  if (!isMapping(file['services'])) return [];
  const names = new OperationNames(services);
  const faults: DataFault[] = callRuleFaults(['defaults'], mapping(file['defaults']));
  faults.push(
    ...Object.entries(services).flatMap(([name, service]) =>
      serviceFaults(['services', name], name, mapping(service), names),
    ),
  );
  if (Object.keys(services).length === 0)
    faults.push({
      path: ['services'],
      message: 'is empty',
      hint: 'for example { cart: { operations: { get: { serviceTime: 5ms } } } }',
    });
  const roots = list(mapping(file['workload'])['roots']);
  for (const [index, root] of roots.entries()) faults.push(...rootFaults(['workload', 'roots', index], root, names));
  faults.push(...faultFaults(file, names), ...callGraphFaults(file, names));
  return faults;
}

function serviceFaults(path: DataPath, name: string, service: Mapping, names: OperationNames): DataFault[] {
  const faults: DataFault[] = [...nameFaults(path, name), ...callRuleFaults(path, service)];
  const operations = mapping(service['operations']);
  if (isMapping(service['operations']) && Object.keys(operations).length === 0)
    faults.push({
      path: [...path, 'operations'],
      message: 'is empty',
      hint: 'for example { get: { serviceTime: 5ms } }',
    });
  for (const [key, value] of Object.entries(operations)) {
    const at = [...path, 'operations', key];
    const operation = mapping(value);
    faults.push(...nameFaults(at, key), ...serviceTimeFaults([...at, 'serviceTime'], operation['serviceTime']));
    for (const [index, step] of list(operation['calls']).entries())
      faults.push(...stepFaults([...at, 'calls', index], step, names));
  }
  return faults;
}

function nameFaults(path: DataPath, name: string): DataFault[] {
  if (namePattern.test(name)) return [];
  const hint = 'letters, digits, `.`, `_` and `-`, at most 63, beginning with a letter or digit';
  return [{ path, atKey: true, message: 'is not a name', hint }];
}

const SERVICE_TIME_KEYS: ReadonlySet<string> = new Set(['constant', 'mean', 'p50', 'p99']);

function serviceTimeFaults(path: DataPath, value: unknown): DataFault[] {
  if (!isMapping(value)) return [];
  const form = Object.keys(value).toSorted().join(' ');
  if (form === 'p50 p99') {
    const [p50Ms, p99Ms] = [workMs(value['p50']), workMs(value['p99'])];
    if (p50Ms === 0)
      return [{ path: [...path, 'p50'], message: 'cannot be 0', hint: 'write `serviceTime: 0s` instead' }];
    if (p50Ms !== undefined && p99Ms !== undefined && p99Ms < p50Ms)
      return [{ path: [...path, 'p99'], message: 'is below p50', hint: 'p99 is at least as long as p50' }];
    return [];
  }
  if (form === 'constant' || form === 'mean' || Object.keys(value).some((key) => !SERVICE_TIME_KEYS.has(key)))
    return [];
  const hint = 'one of 5ms, { mean: 5ms }, { p50: 4ms, p99: 20ms }';
  return [{ path, message: form === '' ? 'is empty' : `cannot be made of ${form.replaceAll(' ', ' and ')}`, hint }];
}

function workMs(value: unknown): number | undefined {
  const reading = readWork(value);
  return reading.ok ? reading.value : undefined;
}

function stepFaults(path: DataPath, value: unknown, names: OperationNames): DataFault[] {
  if (typeof value === 'string') return nameOfCallFaults(path, value, names);
  if (!isMapping(value)) return [];
  const group = value['parallel'];
  if (group === undefined) return callFaults(path, value, names);
  const others = Object.keys(value).filter((key) => key !== 'parallel');
  const faults: DataFault[] = others.map((key) => ({
    path: [...path, key],
    atKey: true,
    message: 'cannot stand beside `parallel`',
    hint: 'put it into the calls of the group',
  }));
  for (const [index, call] of list(group).entries()) {
    const at = [...path, 'parallel', index];
    faults.push(
      ...(typeof call === 'string' ? nameOfCallFaults(at, call, names) : callFaults(at, mapping(call), names)),
    );
  }
  return faults;
}

function callFaults(path: DataPath, call: Mapping, names: OperationNames): DataFault[] {
  const to = call['to'];
  const faults = callRuleFaults(path, call);
  for (const [index, layer] of list(call['layers']).entries())
    faults.push(...callRuleFaults([...path, 'layers', index], mapping(layer)));
  if (to === undefined)
    return [
      ...faults,
      { path, message: 'calls nothing', hint: 'write `to: service/operation`, or `parallel:` and a list' },
    ];
  return typeof to === 'string' ? [...faults, ...nameOfCallFaults([...path, 'to'], to, names)] : faults;
}

function nameOfCallFaults(path: DataPath, name: string, names: OperationNames): DataFault[] {
  return names.resolve(name) === undefined ? [names.fault(path, name)] : [];
}

function rootFaults(path: DataPath, value: unknown, names: OperationNames): DataFault[] {
  const { operation, from, until } = mapping(value);
  const faults = callRuleFaults(path, mapping(value));
  if (typeof operation === 'string') faults.push(...nameOfCallFaults([...path, 'operation'], operation, names));
  const fromReading = readDuration(from ?? '0s');
  const untilReading = readDuration(until);
  if (fromReading.ok && untilReading.ok && untilReading.value <= fromReading.value)
    faults.push({ path: [...path, 'until'], message: 'is not after `from`', hint: 'no request would ever arrive' });
  return faults;
}
