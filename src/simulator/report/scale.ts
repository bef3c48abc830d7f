/** From values to places: linear, from 0 to a round number. */
export interface Scale {
  readonly top: number;
  readonly ticks: readonly number[];
}

/** Steps that people count in. */
const STEPS = [1, 2, 2.5, 5, 10];

/** @param highest ≥ 0; @param tickCount about so many */
export function scaleTo(highest: number, tickCount: number): Scale {
  // What is next to nothing is nothing: its steps would be too small to be told apart.
  const reach = highest > 1e-9 ? highest : 1;
  const rough = reach / tickCount;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * (STEPS.find((one) => one * magnitude >= rough * (1 - 1e-9)) ?? 10);
  const count = Math.max(1, Math.ceil(reach / step - 1e-9));
  return {
    top: step * count,
    ticks: Array.from({ length: count + 1 }, (_, index) => Number((step * index).toPrecision(12))),
  };
}

const TIME_STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400];

/** Whole seconds, minutes or hours from 0 to the end, in milliseconds. */
export function timeTicks(endMs: number): number[] {
  const steps = endMs < 6000 ? [0.1, 0.2, 0.5, ...TIME_STEPS_S] : TIME_STEPS_S;
  const stepMs = 1000 * (steps.find((step) => endMs / (step * 1000) <= 9) ?? Math.ceil(endMs / 8_640_000) * 1000);
  return Array.from({ length: Math.floor(endMs / stepMs + 1e-9) + 1 }, (_, index) => index * stepMs);
}

/** `90 s`, `5 min`, `2 h`: short, for an axis. */
export function shortTime(ms: number): string {
  if (ms < 1000 && ms > 0) return `${Math.round(ms)} ms`;
  if (ms >= 7_200_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return `${Number((ms / 1000).toFixed(1))} s`;
}
