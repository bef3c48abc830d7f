import type { DataPath } from '../../config/fault.ts';
import { callsBelow, type LogicalCall } from './logical-call.ts';
import { operationOf, type SeenOperation } from './seen-operation.ts';
import type { Span } from './span.ts';
import type { TraceTree } from './trace-tree.ts';

/** What the requests of one operation were like. */
export interface OperationStatistics extends SeenOperation {
  readonly key: string;
  readonly path: DataPath;
  method: string | undefined;
  isKeyed: boolean;
  visitCount: number;
  /** Requests from outside. */
  rootCount: number;
  /** Failures that no call explains. */
  ownErrorCount: number;
  /** Its own work, without waiting for calls; milliseconds. */
  readonly workMs: number[];
  readonly calls: Map<string, CallStatistics>;
}

/** What one operation's calls of another were like. */
export interface CallStatistics {
  readonly to: string;
  /** Where the first retry stands, or else the first call. */
  path: DataPath;
  /** Requests of the caller that made it. */
  visitCount: number;
  callCount: number;
  retryCount: number;
  maxRetries: number;
  /** The most sends that something between the two made for one of the caller's. */
  maxHiddenRetries: number;
  hiddenRetryCount: number;
  failedCount: number;
  /** It failed, and its caller did not. */
  survivedCount: number;
  /** Statuses that were retried. */
  readonly retriedStatuses: Set<number>;
  /** Sum of what had passed at its caller when it began. */
  offsetUs: number;
  /** How often it was under way together with another call of the same request, by the other's key. */
  readonly together: Map<string, number>;
}

/** A request with more calls than that is a loop, whose calls are not compared with each other one by one. */
const MOST_COMPARED = 200;

/** Counts what the traces show, operation by operation; keys are `service/operation`. */
export function statisticsOf(tree: TraceTree): ReadonlyMap<string, OperationStatistics> {
  const operations = new Map<string, OperationStatistics>();
  const isRoot = new Set(tree.roots);
  const pending: Span[] = [...tree.roots];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const operation = operationIn(operations, operationOf(visit), visit);
    const calls = callsBelow(visit, tree);
    countVisit(operation, visit, calls);
    if (isRoot.has(visit)) operation.rootCount += 1;
    countCalls(operation, visit, calls);
    for (const { span, target, served } of calls.flatMap(({ attempts }) => attempts)) {
      pending.push(...served);
      if (served.length === 0) countVisit(operationIn(operations, target, span), span, []);
    }
  }
  return operations;
}

function operationIn(
  operations: Map<string, OperationStatistics>,
  { service, name }: SeenOperation,
  { path }: Span,
): OperationStatistics {
  const key = `${service}/${name}`;
  const known = operations.get(key);
  if (known !== undefined) return known;
  const operation: OperationStatistics = {
    key,
    service,
    name,
    path,
    method: undefined,
    isKeyed: true,
    visitCount: 0,
    rootCount: 0,
    ownErrorCount: 0,
    workMs: [],
    calls: new Map(),
  };
  operations.set(key, operation);
  return operation;
}

function countVisit(operation: OperationStatistics, visit: Span, calls: readonly LogicalCall[]): void {
  operation.visitCount += 1;
  operation.method ??= visit.method;
  operation.isKeyed &&= visit.keyed;
  if (visit.failed && !calls.some(hasFailed)) operation.ownErrorCount += 1;
  operation.workMs.push(workUs(visit, calls) / 1000);
}

/** The time of a span in which none of its calls was under way. */
function workUs(visit: Span, calls: readonly LogicalCall[]): number {
  let busyUs = 0;
  let atUs = visit.startUs;
  for (const { span } of calls
    .flatMap(({ attempts }) => attempts)
    .toSorted((a, b) => a.span.startUs - b.span.startUs)) {
    if (span.startUs > atUs) busyUs += Math.min(span.startUs, visit.endUs) - atUs;
    atUs = Math.min(Math.max(atUs, span.endUs), visit.endUs);
  }
  return busyUs + Math.max(0, visit.endUs - atUs);
}

function hasFailed({ attempts }: LogicalCall): boolean {
  return attempts.at(-1)!.span.failed;
}

function countCalls(operation: OperationStatistics, visit: Span, calls: readonly LogicalCall[]): void {
  const seen = new Set<string>();
  for (const call of calls) {
    const key = `${call.target.service}/${call.target.name}`;
    const statistics = callIn(operation, key, call);
    if (!seen.has(key)) statistics.visitCount += 1;
    seen.add(key);
    countCall(statistics, call, visit);
    for (const other of calls.slice(0, MOST_COMPARED)) {
      const otherKey = `${other.target.service}/${other.target.name}`;
      if (other !== call && isTogether(call, other))
        statistics.together.set(otherKey, (statistics.together.get(otherKey) ?? 0) + 1);
    }
  }
}

function countCall(statistics: CallStatistics, call: LogicalCall, visit: Span): void {
  const { attempts } = call;
  const [first, ...retries] = attempts;
  statistics.callCount += 1;
  statistics.offsetUs += first!.span.startUs - visit.startUs;
  if (retries.length > 0) {
    if (statistics.retryCount === 0) statistics.path = retries[0]!.span.path;
    statistics.retryCount += retries.length;
    // A service that counts its sends may have lost some of their spans.
    statistics.maxRetries = Math.max(statistics.maxRetries, retries.length, retries.at(-1)!.span.resendCount ?? 0);
    for (const { span } of attempts.slice(0, -1))
      if (span.status !== undefined && span.status >= 400) statistics.retriedStatuses.add(span.status);
  }
  const hidden = Math.max(...attempts.map(({ served }) => served.length)) - 1;
  if (hidden > 0) {
    statistics.hiddenRetryCount += hidden;
    statistics.maxHiddenRetries = Math.max(statistics.maxHiddenRetries, hidden);
  }
  if (!hasFailed(call)) return;
  statistics.failedCount += 1;
  if (!visit.failed) statistics.survivedCount += 1;
}

function callIn(operation: OperationStatistics, to: string, { attempts }: LogicalCall): CallStatistics {
  const known = operation.calls.get(to);
  if (known !== undefined) return known;
  const statistics: CallStatistics = {
    to,
    path: attempts[0]!.span.path,
    visitCount: 0,
    callCount: 0,
    retryCount: 0,
    maxRetries: 0,
    maxHiddenRetries: 0,
    hiddenRetryCount: 0,
    failedCount: 0,
    survivedCount: 0,
    retriedStatuses: new Set(),
    offsetUs: 0,
    together: new Map(),
  };
  operation.calls.set(to, statistics);
  return statistics;
}

function isTogether(one: LogicalCall, other: LogicalCall): boolean {
  const startOf = ({ attempts }: LogicalCall): number => attempts[0]!.span.startUs;
  const endOf = ({ attempts }: LogicalCall): number => attempts.at(-1)!.span.endUs;
  return startOf(one) < endOf(other) && startOf(other) < endOf(one);
}
