import type { CallEdge, CallGraph, CallNode, Participation } from '../core/ownership/call-graph.ts';
import type { Topology, TopologyCall } from '../simulator/topology.ts';
import { isRepeatable, participationOfCaller, retriesRelayed, retryShareOf } from './call-facts.ts';
import { disorderedTimeouts } from './timeout-order.ts';

/** Whose rules hold: those of the file, no ownership at all, or ownership obeyed by all who can. */
export type StormView = 'file' | 'retries' | 'ownership';

/** A topology as core's rule of edges sees it. */
export interface StormGraph {
  readonly graph: CallGraph;
  /** Where the worst below a root may begin: at its client, or at a caller that does without what fails below it. */
  readonly starts: readonly { readonly node: string; readonly root: number }[];
  /** What people call a node; `undefined` for a client that tries once: every path begins at one. */
  label(node: string): string | undefined;
  /** Whether a node stands for a callee that is too slow for its caller. */
  isSlow(node: string): boolean;
}

/**
 * - An edge whose policy does not cover what a service says that failed over its own callee (or may not, because the
 *   request cannot be repeated) retries only what its callee itself does: it leads to a copy that calls nobody.
 * - A call that its caller does without hands no failure up: the worst over it begins at that caller.
 * - A callee that may take longer than its caller waits cannot say anything in time: it stands there a second time, as one
 *   that owns every error; what it does without counts there, for it is waited for.
 */
export function stormGraph(topology: Topology, view: StormView): StormGraph {
  const { calls, operations, roots } = topology;
  const nodes = new Map<string, CallNode>();
  const edges: CallEdge[] = [];
  const isOwning = view === 'ownership' || (view === 'file' && topology.ownership === 'enforce');
  const participationOf = (operation: number): Participation =>
    isOwning ? topology.services[operations[operation]!.service]!.participation : 'legacy';
  const add = (name: string, participation: Participation): string => {
    if (!nodes.has(name)) nodes.set(name, { name, participation });
    return name;
  };
  const tooSlow = Map.groupBy(disorderedTimeouts(topology), ({ call }) => call);

  const connect = (from: string, index: number): void => {
    const call = calls[index]!;
    const to = add(nameOf(call.to), participationOf(call.to));
    const { maxRetries } = call.policy;
    const retryShare = retryShareOf(call.budget);
    if (maxRetries === 0 || coversRelayed(topology, call)) {
      edges.push({ from, to, maxRetries, retryShare });
      if (maxRetries > 0 && call.policy.on.has('timeout')) connectSlow(from, index);
      return;
    }
    edges.push({ from, to, maxRetries: 0 });
    edges.push({ from, to: add(`${to}!${index}`, participationOf(call.to)), maxRetries, retryShare });
  };
  const connectSlow = (from: string, index: number): void => {
    const below = tooSlow.get(index) ?? [];
    const call = calls[index]!;
    if (below.length === 0) return;
    const slow = `${nameOf(call.to)}~${index}`;
    edges.push({ from, to: slow, maxRetries: call.policy.maxRetries, retryShare: retryShareOf(call.budget) });
    if (nodes.has(slow)) return;
    add(slow, participationOf(call.to) === 'legacy' ? 'legacy' : 'context-broken');
    for (const { below: lower } of below) connect(slow, lower);
  };

  for (const [index, operation] of operations.entries()) {
    const node = add(nameOf(index), participationOf(index));
    for (const call of new Set(operation.steps.flat())) {
      if (calls[call]!.edge === 'fail-open') connect(add(`${node}?${call}`, participationOf(index)), call);
      else connect(node, call);
    }
  }
  const starts = roots.flatMap((root, index) => {
    const client = add(`client${index}`, 'cooperating');
    connect(client, root.call);
    const withoutThem = [...reachable(topology, root.operation)].flatMap((operation) =>
      [...new Set(operations[operation]!.steps.flat())]
        .filter((call) => calls[call]!.edge === 'fail-open')
        .map((call) => ({ node: `${nameOf(operation)}?${call}`, root: index })),
    );
    return [{ node: client, root: index }, ...withoutThem];
  });
  return {
    graph: { nodes: [...nodes.values()], edges },
    starts,
    label: (node) => {
      const root = /^client(\d+)$/.exec(node)?.[1];
      if (root === undefined) return operations[Number.parseInt(node, 10)]!.name;
      return calls[roots[Number(root)]!.call]!.policy.maxRetries > 0 ? 'client' : undefined;
    },
    isSlow: (node) => node.includes('~'),
  };
}

function nameOf(operation: number): string {
  return String(operation);
}

/** A legacy caller is not held by the rule that only what can be repeated is repeated. */
function coversRelayed(topology: Topology, call: TopologyCall): boolean {
  const mayRepeat = participationOfCaller(topology, call) === 'legacy' || isRepeatable(topology.operations[call.to]!);
  return mayRepeat && retriesRelayed(call);
}

function reachable({ operations, calls }: Topology, root: number): Set<number> {
  const reached = new Set([root]);
  for (const operation of reached) for (const call of operations[operation]!.steps.flat()) reached.add(calls[call]!.to);
  return reached;
}
