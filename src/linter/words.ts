/** `3`, `1.33`, `1.2e9`: a factor for people. */
export function factor(value: number): string {
  if (value >= 1e6) return value.toExponential(1).replace('e+', 'e');
  return String(Math.round(value * 100) / 100);
}

/** `1.25 s`, `40 ms` */
export function time(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms) / 1000}s` : `${Math.round(ms)}ms`;
}

export function pathText(path: readonly string[]): string {
  return path.join(' -> ');
}
