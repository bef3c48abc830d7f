import type { Span } from './span.ts';

/** Spans with what lies below each of them. */
export interface TraceTree {
  /** Without a parent, or with one that the file does not hold. */
  readonly roots: readonly Span[];
  /** How many of the roots have lost their parent. */
  readonly orphanCount: number;
  readonly traceCount: number;
  /** Spans that are their own ancestors, and what lies below them: no root leads there. */
  readonly lostCount: number;
  childrenOf(span: Span): readonly Span[];
  /** Whether a service numbers what it sends again: a send without a number is then a first one. */
  countsResends(service: string): boolean;
}

/** Spans of a trace in any order, and of any number of traces. A span that is there twice counts once. */
export function treeOf(spans: Iterable<Span>): TraceTree {
  const byKey = new Map<string, Span>();
  const traces = new Set<string>();
  const counting = new Set<string>();
  for (const span of spans) {
    traces.add(span.traceId);
    if (span.resendCount !== undefined) counting.add(span.service);
    byKey.set(`${span.traceId} ${span.id}`, span);
  }
  const roots: Span[] = [];
  const children = new Map<Span, Span[]>();
  let orphanCount = 0;
  for (const span of byKey.values()) {
    const parent = span.parentId === undefined ? undefined : byKey.get(`${span.traceId} ${span.parentId}`);
    // What a message started answers nobody: its caller has gone on.
    if (parent === undefined || parent === span || span.kind === 'consumer') {
      roots.push(span);
      if (span.parentId !== undefined && parent === undefined) orphanCount += 1;
      continue;
    }
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [span]);
    else siblings.push(span);
  }
  for (const siblings of children.values()) siblings.sort((a, b) => a.startUs - b.startUs);
  const found = new Set(roots);
  for (const span of found) for (const child of children.get(span) ?? NONE) found.add(child);
  return {
    roots,
    lostCount: byKey.size - found.size,
    orphanCount,
    traceCount: traces.size,
    childrenOf: (span) => children.get(span) ?? NONE,
    countsResends: (service) => counting.has(service),
  };
}

const NONE: readonly Span[] = [];
