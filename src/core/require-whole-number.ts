/** @throws RangeError when `value` is not a whole number from `lowest` to `highest`, naming what, where and the range */
export function requireWholeNumber(owner: string, field: string, value: number, lowest: number, highest: number): void {
  if (Number.isInteger(value) && value >= lowest && value <= highest) return;
  throw new RangeError(
    `${owner}: ${field} is ${String(value)}; give a whole number from ${String(lowest)} to ${String(highest)}`,
  );
}
