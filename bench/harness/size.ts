const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Reads `64KiB`, `10MiB`, `2GiB` as bytes. Throws a RangeError on anything else. */
export function parseSize(text: string): number {
  const [, digits, unit = ''] = /^([1-9]\d{0,5})([KMG]iB)$/.exec(text) ?? [];
  const bytes = Number(digits) * (units[unit] ?? Number.NaN);
  if (Number.isNaN(bytes)) throw new RangeError(`${JSON.stringify(text)} is not a size; write it like 256MiB or 2GiB`);
  return bytes;
}

export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
