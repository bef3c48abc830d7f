import type { DataPath } from '../../config/fault.ts';
import type { OperationStatistics } from './statistics.ts';

/** Call paths longer than this are no system's that people keep, and a recursion that was told under many names. */
const MAX_HOPS = 100;

/** An operation that calls itself, over others or not, cannot be followed to an end: the call that comes back is left out. */
export function withoutCircles(statistics: ReadonlyMap<string, OperationStatistics>): {
  readonly operations: readonly OperationStatistics[];
  readonly omissions: readonly { readonly path: DataPath; readonly message: string }[];
} {
  const omissions: { path: DataPath; message: string }[] = [];
  const kept = new Map<string, OperationStatistics>();
  const visit = (key: string, above: readonly string[]): void => {
    if (kept.has(key)) return;
    const operation = statistics.get(key)!;
    const calls = new Map(operation.calls);
    const onPath = [...above, key];
    for (const [to, { path }] of operation.calls) {
      if (onPath.includes(to)) {
        calls.delete(to);
        const circle = [...onPath.slice(onPath.indexOf(to)), to].join(' -> ');
        omissions.push({ path, message: `the call that closes the circle ${circle} is left out` });
      } else if (onPath.length >= MAX_HOPS) {
        calls.delete(to);
        omissions.push({ path, message: `the call of ${to} is left out: it is more than ${MAX_HOPS} calls down` });
      } else visit(to, onPath);
    }
    kept.set(key, { ...operation, calls });
  };
  for (const key of statistics.keys()) visit(key, []);
  return { operations: [...statistics.keys()].map((key) => kept.get(key)!), omissions };
}
