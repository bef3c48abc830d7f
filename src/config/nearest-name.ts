/**
 * The known name a person most likely meant, or `undefined` when none is near: at most a third of its letters may
 * be wrong (swapped neighbours count as one), case, `-` and `_` aside; a name that the other begins with is near too.
 */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length > 64) return undefined;
  const wanted = fold(given);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const name of known) {
    const candidate = fold(name);
    const distance =
      wanted.length >= 3 && (candidate.startsWith(wanted) || wanted.startsWith(candidate))
        ? 1
        : editDistance(wanted, candidate);
    if (distance < bestDistance && distance <= Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3))) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, '');
}

/** Optimal string alignment distance: insert, delete, replace, swap neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}

/** `did you mean `x`?`, or the known names when none is near. */
export function suggest(given: string, known: readonly string[]): string {
  const near = nearestName(given, known);
  if (near !== undefined) return `did you mean \`${near}\`?`;
  if (known.length === 0) return '';
  return known.length === 1 ? `known: ${known[0]!}` : `known: ${known.join(', ')}`;
}
