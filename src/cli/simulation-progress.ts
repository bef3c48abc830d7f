import type { Simulation } from '../simulator/simulation.ts';

/** Between two looks at the world outside: some hundredths of a second. */
const EVENTS_A_TURN = 50_000;
const PROGRESS_EVERY_MS = 200;

/** Runs it to its end, or until asked to stop, with a bar on standard error where that is a terminal. */
export async function runWithProgress(
  simulation: Simulation,
  title: string,
  interrupt: { readonly asked: boolean },
): Promise<void> {
  const startedAtMs = performance.now();
  let shownAtMs = startedAtMs;
  while (!simulation.advance(EVENTS_A_TURN) && !interrupt.asked) {
    // Signals are told between two turns only.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const nowMs = performance.now();
    if (process.stderr.isTTY && nowMs - shownAtMs >= PROGRESS_EVERY_MS) {
      shownAtMs = nowMs;
      process.stderr.write(`\r\u001b[K${progressLine(simulation, title, nowMs - startedAtMs)}`);
    }
  }
  if (shownAtMs !== startedAtMs) process.stderr.write('\r\u001b[K');
}

/** `ownership 3/3 ███░░░ 50 %, 1234567 hops, 4 s left` */
export function progressLine(
  { nowMs, durationMs, hopCount }: Pick<Simulation, 'nowMs' | 'durationMs' | 'hopCount'>,
  title: string,
  spentMs: number,
): string {
  const share = nowMs / durationMs;
  const filled = Math.round(share * 30);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(30 - filled)}`;
  const left = share > 0 ? `, ${Math.ceil((spentMs * (1 / share - 1)) / 1000)} s left` : '';
  return `${title} ${bar} ${Math.floor(share * 100)} %, ${hopCount} hops${left}`;
}
