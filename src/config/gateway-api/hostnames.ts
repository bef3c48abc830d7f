/** A host name, `*.example` for every name below `example`, or `undefined` for every host; lower case. */
export type HostPattern = string | undefined;

/** What both take; `none` when there is no such host. */
export function intersection(a: HostPattern, b: HostPattern): { readonly host: HostPattern } | 'none' {
  if (a === undefined || a === b) return { host: b };
  if (b === undefined) return { host: a };
  if (isBelow(a, b)) return { host: a };
  if (isBelow(b, a)) return { host: b };
  return 'none';
}

/** Whether everything that `inner` takes is taken by the wildcard `outer`. */
function isBelow(inner: string, outer: string): boolean {
  if (!outer.startsWith('*.')) return false;
  const suffix = outer.slice(1);
  const name = inner.startsWith('*.') ? inner.slice(1) : inner;
  return name.endsWith(suffix) && name.length > suffix.length;
}

/** A whole name before wildcards, the longer wildcard before the shorter, every host last. A larger rank goes first. */
export function specificity(pattern: HostPattern): number {
  if (pattern === undefined) return 0;
  return pattern.startsWith('*.') ? pattern.length : Infinity;
}
