/** The text forms of quantities in a configuration. Each reader answers with the value, or with what is wrong and what to do. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string; readonly hint: string };

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const unitBytes: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Node's timers hold 2³¹−1 ms; a longer one would fire at once. */
export const maxDurationMs: number = 2 ** 31 - 1;

function bad<Value>(message: string, hint: string): Reading<Value> {
  return { ok: false, message, hint };
}

/** `250ms`, `3s`, `1m`, `1h`, `0s`; a decimal fraction is allowed (`1.5s`), one unit only. Whole milliseconds, at most 2³¹−1. */
export function readDuration(input: unknown): Reading<number> {
  if (typeof input === 'number')
    return bad(
      `${input} is not a duration: it has no unit`,
      input === 0 ? 'write 0s' : `add a unit: ${input}ms or ${input}s`,
    );
  if (typeof input !== 'string') return bad('must be a duration', 'for example 250ms, 3s, 1m');
  const match = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h)$/.exec(input);
  if (match === null) {
    if (/^\d+(\.\d+)?$/.test(input))
      return bad(`"${input}" is not a duration: it has no unit`, `add a unit: ${input}ms or ${input}s`);
    if (input.startsWith('-'))
      return bad('a duration cannot be negative', 'for example 250ms, 3s, 1m; 0s switches off');
    if (/^(\d+(?:\.\d+)?(?:ms|s|m|h)){2,}$/.test(input))
      return bad('a duration has one unit', `write it in one: for example 90s for 1m30s`);
    return bad('is not a duration', 'a number and ms, s, m or h: for example 250ms, 3s, 1m');
  }
  const valueMs = Number(match[1]) * unitMs[match[2]!]!;
  if (valueMs > maxDurationMs) return bad('is too long', 'at most 596h, about 24 days');
  if (valueMs > 0 && valueMs < 1) return bad('is below one millisecond', 'the shortest duration is 1ms');
  return { ok: true, value: Math.round(valueMs) };
}

/** `512B`, `64KiB`, `10MiB`, `1GiB`; whole numbers. */
export function readSize(input: unknown): Reading<number> {
  if (typeof input === 'number')
    return bad(`${input} is not a size: it has no unit`, `add a unit: ${input}B or ${input}KiB`);
  if (typeof input !== 'string') return bad('must be a size', 'for example 512B, 64KiB, 10MiB');
  const match = /^(\d{1,12})(B|KiB|MiB|GiB)$/.exec(input);
  if (match === null) {
    const decimal = /^(\d+)\s*([kKmMgG])(?:i?[bB])?$/.exec(input);
    if (decimal !== null)
      return bad(`"${input}" is not a size`, `sizes are binary: write ${decimal[1]!}${decimal[2]!.toUpperCase()}iB`);
    if (/^\d+$/.test(input))
      return bad(`"${input}" is not a size: it has no unit`, `add a unit: ${input}B or ${input}KiB`);
    return bad('is not a size', 'a whole number and B, KiB, MiB or GiB: for example 512B, 64KiB, 10MiB');
  }
  const value = Number(match[1]) * unitBytes[match[2]!]!;
  if (value > 64 * 1024 ** 3) return bad('is too large', 'at most 64GiB');
  return { ok: true, value };
}

/** For people: the shortest exact text of a number of milliseconds. */
export function formatDuration(valueMs: number): string {
  if (valueMs !== 0 && valueMs % 3_600_000 === 0) return `${valueMs / 3_600_000}h`;
  if (valueMs !== 0 && valueMs % 60_000 === 0) return `${valueMs / 60_000}m`;
  return valueMs % 1000 === 0 ? `${valueMs / 1000}s` : `${valueMs}ms`;
}
