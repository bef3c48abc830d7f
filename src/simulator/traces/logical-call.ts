import { operationOf, operationOfPeer, type SeenOperation } from './seen-operation.ts';
import type { Span } from './span.ts';
import type { TraceTree } from './trace-tree.ts';

/** One send of a call. */
export interface SeenAttempt {
  /** The caller's side where there is one, else the callee's. */
  readonly span: Span;
  readonly target: SeenOperation;
  /** The callee's side; more than one: something between the two has sent it again. */
  readonly served: readonly Span[];
}

/** A call with its retries: attempts of the same parent that follow each other. */
export interface LogicalCall {
  readonly target: SeenOperation;
  readonly attempts: SeenAttempt[];
}

/** Clocks and the ends of spans are not exact to the last microsecond. */
const OVERLAP_TOLERANCE_US = 1000;

/** The calls that were made while the operation of a span was served, in the order of their beginning. */
export function callsBelow(visit: Span, tree: TraceTree): LogicalCall[] {
  const calls: LogicalCall[] = [];
  gather(visit, visit.service, tree, calls);
  return calls.toSorted((a, b) => a.attempts[0]!.span.startUs - b.attempts[0]!.span.startUs);
}

function gather(parent: Span, service: string, tree: TraceTree, calls: LogicalCall[]): void {
  const attempts: SeenAttempt[] = [];
  for (const child of tree.childrenOf(parent)) {
    const attempt = attemptOf(child, service, tree);
    if (attempt !== undefined) attempts.push(attempt);
    else if (!isMessage(child)) gather(child, service, tree, calls);
  }
  calls.push(...grouped(attempts));
}

/** `undefined`: a step of the service itself. */
function attemptOf(span: Span, service: string, tree: TraceTree): SeenAttempt | undefined {
  if (span.kind === 'server' || (span.service !== service && !isMessage(span)))
    return { span, target: operationOf(span), served: [span] };
  if (span.kind !== 'client') return undefined;
  const below = tree.childrenOf(span);
  const served = below.filter((child) => child.kind === 'server' || child.service !== service);
  if (served.length > 0) return { span, target: operationOf(served[0]!), served };
  // A client's span around those of its attempts.
  if (below.some((child) => child.kind === 'client')) return undefined;
  return { span, target: operationOfPeer(span), served };
}

function isMessage({ kind }: Span): boolean {
  return kind === 'producer' || kind === 'consumer';
}

function grouped(attempts: readonly SeenAttempt[]): LogicalCall[] {
  const calls: LogicalCall[] = [];
  const countsResends = attempts.some(({ span }) => span.resendCount !== undefined);
  for (const attempt of attempts) {
    const earlier = calls.findLast(
      ({ target }) => target.service === attempt.target.service && isSame(target, attempt),
    );
    if (earlier !== undefined && isRetry(attempt, earlier.attempts.at(-1)!, countsResends))
      earlier.attempts.push(attempt);
    else calls.push({ target: attempt.target, attempts: [attempt] });
  }
  return calls;
}

function isSame(target: SeenOperation, attempt: SeenAttempt): boolean {
  return target.name === attempt.target.name || (attempt.span.resendCount ?? 0) > 0;
}

/** The service says so; or, where it never does, the same call follows one that failed. */
function isRetry(attempt: SeenAttempt, before: SeenAttempt, countsResends: boolean): boolean {
  if (countsResends) return (attempt.span.resendCount ?? 0) > 0;
  return before.span.failed && attempt.span.startUs >= before.span.endUs - OVERLAP_TOLERANCE_US;
}
