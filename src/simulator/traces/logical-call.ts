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
  // Steps of a service may be nested as deep as a program calls itself: no recursion of ours.
  const pending: Span[] = [visit];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    const attempts: SeenAttempt[] = [];
    for (const child of tree.childrenOf(parent)) {
      const attempt = attemptOf(child, visit.service, tree);
      if (attempt !== undefined) attempts.push(attempt);
      else if (!isMessage(child)) pending.push(child);
    }
    calls.push(...grouped(attempts, tree.countsResends(visit.service)));
  }
  return calls.toSorted((a, b) => a.attempts[0]!.span.startUs - b.attempts[0]!.span.startUs);
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

function grouped(attempts: readonly SeenAttempt[], countsResends: boolean): LogicalCall[] {
  const calls: LogicalCall[] = [];
  for (const attempt of attempts) {
    const earlier = countsResends ? callOfResend(calls, attempt) : callOfRepeat(calls, attempt);
    if (earlier === undefined) calls.push({ target: attempt.target, attempts: [attempt] });
    else earlier.attempts.push(attempt);
  }
  return calls;
}

/** The call that an attempt with a number belongs to. It may have gone to another server than the one before. */
function callOfResend(calls: readonly LogicalCall[], { target, span }: SeenAttempt): LogicalCall | undefined {
  const { resendCount = 0 } = span;
  if (resendCount === 0) return undefined;
  return (
    calls.findLast((call) => isSame(call.target, target)) ??
    calls.findLast(({ target: { service } }) => service === target.service) ??
    calls.findLast((call) => call.attempts.length === resendCount)
  );
}

/** Where nobody counts: the same call behind one that failed. */
function callOfRepeat(calls: readonly LogicalCall[], { target, span }: SeenAttempt): LogicalCall | undefined {
  const earlier = calls.findLast((call) => isSame(call.target, target));
  const before = earlier?.attempts.at(-1)!.span;
  const follows = before?.failed === true && span.startUs >= before.endUs - OVERLAP_TOLERANCE_US;
  return follows ? earlier : undefined;
}

function isSame(one: SeenOperation, other: SeenOperation): boolean {
  return one.service === other.service && one.name === other.name;
}
