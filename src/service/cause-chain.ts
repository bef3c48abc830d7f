import type { ServiceCall } from './service-call.ts';

/** A chain of causes longer than this comes from a circle, or from a library that wraps without end. */
const MAX_LINK_COUNT = 32;

const NOTHING: readonly ServiceCall[] = [];

const callOf = new WeakMap<object, ServiceCall>();

/** Lets an error, or an answer that somebody keeps as the cause of one, stand for a call. The first call stays. */
export function standsFor(thing: unknown, call: ServiceCall): void {
  if (typeof thing === 'object' && thing !== null && !callOf.has(thing)) callOf.set(thing, call);
}

/**
 * The calls that an error names: its own, those of its `cause` and of the `errors` of an aggregate, and so on. It needs no
 * context, so that it also holds where a library lost it.
 */
export function callsNamedBy(error: unknown): readonly ServiceCall[] {
  if (typeof error !== 'object' || error === null) return NOTHING;
  const found = new Set<ServiceCall>();
  const seen = new Set<unknown>();
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && seen.size < MAX_LINK_COUNT) {
    const link = waiting.pop();
    if (typeof link !== 'object' || link === null || seen.has(link)) continue;
    seen.add(link);
    const call = callOf.get(link);
    if (call !== undefined) found.add(call);
    const { cause, errors } = link as { readonly cause?: unknown; readonly errors?: unknown };
    waiting.push(cause);
    if (Array.isArray(errors)) waiting.push(...errors.slice(0, MAX_LINK_COUNT));
  }
  return [...found];
}
