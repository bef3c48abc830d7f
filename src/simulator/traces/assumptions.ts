import type { OperationStatistics } from './statistics.ts';
import type { TraceTree } from './trace-tree.ts';

/** What traces of that kind do not tell, and what stands in its place; a sentence each. */
export function assumptionsOf({
  statistics,
  tree,
  spanCount,
  seconds,
}: {
  readonly statistics: ReadonlyMap<string, OperationStatistics>;
  readonly tree: TraceTree;
  readonly spanCount: number;
  readonly seconds: number;
}): string[] {
  const operations = [...statistics.values()];
  const calls = operations.flatMap((operation) => [...operation.calls.values()]);
  const retryCount = calls.reduce((sum, call) => sum + call.retryCount + call.hiddenRetryCount, 0);
  const withoutMethod = operations.filter(({ method }) => method === undefined).length;
  return [
    `read ${spanCount} spans of ${tree.traceCount} traces over ${Math.round(seconds * 10) / 10} s, with ${retryCount} retries in them; rates and errors are those of the sample`,
    'each call retries as often as was seen at most; budgets and claims are not in traces: none are assumed',
    'capacities are not in traces: no service has a limit; service times are the time outside of calls, queueing included',
    'timeouts are not in traces: 15 s for each call',
    ...(withoutMethod === 0
      ? []
      : [`${withoutMethod} operations have no method in the traces: they count as ones that may be repeated`]),
    ...(tree.lostCount === 0 ? [] : [`${tree.lostCount} spans are below each other in a circle, and left out`]),
    ...(tree.orphanCount === 0
      ? []
      : [`${tree.orphanCount} spans have a parent that is not in the file: they count as requests from outside`]),
  ];
}
