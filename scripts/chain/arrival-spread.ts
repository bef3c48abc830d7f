/** What one request at the top of a chain brings to a service below it, where chance decides. */
export interface ArrivalSpread {
  readonly mean: number;
  /** Of the number of requests. */
  readonly deviation: number;
}

/** Chances by the number of requests that reach the service, and by whether the call failed for good. */
type Outcomes = ReadonlyMap<number, { readonly ok: number; readonly failed: number }>;

/**
 * By going through all that can happen: the last service fails a share of its requests, and each of `retrying` calls is made
 * once more when it failed.
 * @param retrying by call, from the top; `true` where it is retried
 * @param share of the last service's requests that fail, 0–1
 * @param depth of the service whose requests are counted, 0 for the first
 */
export function arrivalSpread(retrying: readonly boolean[], share: number, depth: number): ArrivalSpread {
  let below: Outcomes = new Map([[depth === retrying.length ? 1 : 0, { ok: 1 - share, failed: share }]]);
  for (let caller = retrying.length - 1; caller >= 0; caller -= 1) {
    below = aboveOf(below, retrying[caller]!, caller === depth);
  }
  const chances = [...below].map(([count, { ok, failed }]) => ({ count, chance: ok + failed }));
  const mean = chances.reduce((sum, { count, chance }) => sum + count * chance, 0);
  const variance = chances.reduce((sum, { count, chance }) => sum + (count - mean) ** 2 * chance, 0);
  return { mean, deviation: Math.sqrt(variance) };
}

function aboveOf(below: Outcomes, retries: boolean, isCounted: boolean): Outcomes {
  const above = new Map<number, { ok: number; failed: number }>();
  const add = (count: number, ok: number, failed: number): void => {
    const known = above.get(count) ?? { ok: 0, failed: 0 };
    above.set(count, { ok: known.ok + ok, failed: known.failed + failed });
  };
  const here = isCounted ? 1 : 0;
  for (const [count, { ok, failed }] of below) {
    add(count + here, ok, retries ? 0 : failed);
    if (!retries) continue;
    for (const [more, again] of below) add(count + more + here, failed * again.ok, failed * again.failed);
  }
  return above;
}
