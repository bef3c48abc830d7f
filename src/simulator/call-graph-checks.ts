import type { DataFault, DataPath } from '../config/fault.ts';
import type { Mapping } from '../config/plain-data.ts';
import { isMapping, list, mapping } from '../config/plain-data.ts';
import type { OperationNames } from './operation-names.ts';

/** So many calls for one request are a mistake in a `count`, or a run that never ends. */
const MAX_VISITS = 100_000;
/** Call paths of people's systems end far above this. */
const MAX_HOPS = 100;

interface GraphCall {
  readonly to: string;
  readonly weight: number;
  readonly path: DataPath;
}

/** Circles of calls, requests that cost more calls than can be simulated, and operations that nobody calls. */
export function callGraphFaults(file: Mapping, names: OperationNames): DataFault[] {
  const graph = graphOf(mapping(file['services']), names);
  const endless = findEndlessPath(graph);
  if (endless !== undefined) return [endless];
  const faults: DataFault[] = [];
  const reached = new Set<string>();
  for (const [index, root] of list(mapping(file['workload'])['roots']).entries()) {
    const { operation } = mapping(root);
    const name = typeof operation === 'string' ? names.resolve(operation) : undefined;
    if (name === undefined) continue;
    reachFrom(name, graph, reached);
    const visits = visitsOf(name, graph, new Map());
    if (visits > MAX_VISITS)
      faults.push({
        path: ['workload', 'roots', index, 'operation'],
        message: `needs ${Math.round(visits)} calls for one request`,
        hint: `at most ${MAX_VISITS}: lower a \`count\` on the way, or leave out what is called most`,
      });
  }
  // A name that leads nowhere was meant to call somebody: one fault, not two.
  if (reached.size === 0 || hasUnknownName(file, names)) return faults;
  for (const name of names.all.filter((operation) => !reached.has(operation)))
    faults.push({
      severity: 'warning',
      path: pathOf(name),
      atKey: true,
      message: 'is called by nobody',
      hint: 'remove it, or call it from a root or an operation',
    });
  return faults;
}

function hasUnknownName(file: Mapping, names: OperationNames): boolean {
  const unknown = (name: unknown): boolean => typeof name === 'string' && names.resolve(name) === undefined;
  if (list(mapping(file['workload'])['roots']).some((root) => unknown(mapping(root)['operation']))) return true;
  const callsUnknown = (step: unknown): boolean =>
    typeof step === 'string'
      ? unknown(step)
      : unknown(mapping(step)['to']) || list(mapping(step)['parallel']).some(callsUnknown);
  return Object.values(mapping(file['services'])).some((service) =>
    Object.values(mapping(mapping(service)['operations'])).some((operation) =>
      list(mapping(operation)['calls']).some(callsUnknown),
    ),
  );
}

function pathOf(name: string): DataPath {
  const [service = '', operation = ''] = name.split('/');
  return ['services', service, 'operations', operation];
}

function graphOf(services: Mapping, names: OperationNames): ReadonlyMap<string, readonly GraphCall[]> {
  const graph = new Map<string, readonly GraphCall[]>();
  for (const [service, value] of Object.entries(services)) {
    for (const [operation, body] of Object.entries(mapping(mapping(value)['operations']))) {
      const path = ['services', service, 'operations', operation, 'calls'];
      const steps = list(mapping(body)['calls']);
      graph.set(
        `${service}/${operation}`,
        steps.flatMap((step, index) => callsOf(step, [...path, index], names)),
      );
    }
  }
  return graph;
}

function callsOf(value: unknown, path: DataPath, names: OperationNames): GraphCall[] {
  if (isMapping(value) && value['parallel'] !== undefined)
    return list(value['parallel']).flatMap((call, index) => callsOf(call, [...path, 'parallel', index], names));
  const call: Mapping = typeof value === 'string' ? { to: value } : mapping(value);
  const { to, count = 1, probability = 1 } = call;
  const name = typeof to === 'string' ? names.resolve(to) : undefined;
  if (name === undefined) return [];
  const weight = typeof count === 'number' && typeof probability === 'number' ? count * probability : 1;
  return [{ to: name, weight, path }];
}

function findEndlessPath(graph: ReadonlyMap<string, readonly GraphCall[]>): DataFault | undefined {
  const done = new Set<string>();
  const visit = (name: string, above: readonly string[]): DataFault | undefined => {
    if (done.has(name)) return undefined;
    for (const { to, path } of graph.get(name) ?? []) {
      const onPath = [...above, name];
      if (onPath.includes(to))
        return {
          path,
          message: `closes a circle of calls: ${[...onPath.slice(onPath.indexOf(to)), to].join(' -> ')}`,
          hint: 'services may call each other, operations may not: give the service another operation for the inner call',
        };
      if (onPath.length >= MAX_HOPS)
        return {
          path,
          message: `is more than ${MAX_HOPS} calls below ${onPath[0]!}`,
          hint: 'leave out the middle of the chain, or what lies below',
        };
      const found = visit(to, onPath);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const found = visit(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

function reachFrom(name: string, graph: ReadonlyMap<string, readonly GraphCall[]>, reached: Set<string>): void {
  if (reached.has(name)) return;
  reached.add(name);
  for (const { to } of graph.get(name) ?? []) reachFrom(to, graph, reached);
}

/** Calls that one request needs, its own included. */
function visitsOf(name: string, graph: ReadonlyMap<string, readonly GraphCall[]>, known: Map<string, number>): number {
  const before = known.get(name);
  if (before !== undefined) return before;
  let visits = 1;
  for (const { to, weight } of graph.get(name) ?? []) visits += weight * visitsOf(to, graph, known);
  known.set(name, visits);
  return visits;
}
