/** Columns of words and numbers for a terminal: the first is for names and stands left, the others stand right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines
    .map((cells) =>
      widths
        .map((width, column) => {
          const cell = cells[column] ?? '';
          return column === 0 ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Three digits are enough to compare by. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

export function formatPercent(ratio: number): string {
  const percent = ratio * 100;
  // 99.996 must not look like all of them.
  if (percent > 99.99 && percent < 100) return '>99.99 %';
  return `${percent.toFixed(percent >= 10 && percent <= 99 ? 1 : 2)} %`;
}

export function formatMs(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return '–';
  if (ms >= 10_000) return `${formatNumber(ms / 1000)} s`;
  return `${formatNumber(ms)} ms`;
}
