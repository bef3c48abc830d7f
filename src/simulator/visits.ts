import type { Topology } from './topology.ts';

/**
 * How often each operation is called for one request at `root` when nothing fails and nothing is retried, by index of the
 * operation. The calls of a topology form no circle.
 */
export function visitsPerRequest(topology: Pick<Topology, 'operations' | 'calls'>, root: number): number[] {
  const { operations, calls } = topology;
  const visits = operations.map(() => 0);
  visits[root] = 1;
  for (const index of callersFirst(topology, root)) {
    for (const call of operations[index]!.steps.flat()) {
      const { to, probability } = calls[call]!;
      visits[to] = visits[to]! + visits[index]! * probability;
    }
  }
  return visits;
}

function callersFirst({ operations, calls }: Pick<Topology, 'operations' | 'calls'>, root: number): number[] {
  const order: number[] = [];
  const seen = new Set<number>();
  const visit = (index: number): void => {
    if (seen.has(index)) return;
    seen.add(index);
    for (const call of operations[index]!.steps.flat()) visit(calls[call]!.to);
    order.push(index);
  };
  visit(root);
  return order.toReversed();
}
