import type { Figures, WayFigures } from './figures.ts';
import { figuresOf, isSuccess, stopReasonCounts } from './figures.ts';
import type { Screen } from './screen.ts';
import { stopMeanings } from './stop-meaning.ts';
import type { Scenario } from './scenario.ts';
import { outageBudget, scenarios } from './scenario.ts';
import type { RequestOutcome } from './traffic.ts';

const widths = { name: 8, label: 23, success: 17, seen: 14, retries: 7 } as const;
const nameLength = widths.name + widths.label;

/** What it all came to, in one look. */
export function printSummary(screen: Screen, outcomes: readonly RequestOutcome[]): void {
  const { paint } = screen;
  const curable = outcomes.filter(({ scenario }) => !scenario.hopeless);
  screen.line(paint('strong', 'What it came to'));
  screen.line();
  const half = widths.success + widths.seen;
  screen.line(paint('quiet', `${''.padEnd(nameLength)}${'WITHOUT MULLIGAN'.padEnd(half)}WITH MULLIGAN`));
  const columns = 'SUCCESS'.padEnd(widths.success) + 'SERVERS SAW'.padEnd(widths.seen);
  screen.line(paint('quiet', `${''.padEnd(nameLength)}${columns}${columns}${'RETRIES'.padStart(widths.retries)}`));
  const row = (name: string, list: readonly RequestOutcome[], strong = false): void => {
    const line = summaryRow(name, figuresOf(list));
    screen.line(strong ? paint('strong', line) : line);
  };
  const rowOf = ({ name, label }: Scenario): void =>
    row(
      name.padEnd(widths.name) + label,
      outcomes.filter(({ scenario }) => scenario.name === name),
    );
  scenarios.filter(({ hopeless }) => !hopeless).forEach(rowOf);
  row('together', curable, true);
  scenarios.filter(({ hopeless }) => hopeless).forEach(rowOf);
  screen.line();
  screen.line(paint('strong', 'Why each request ended: its stop reason in the access log'));
  screen.line();
  for (const [reason, count] of stopReasonCounts(outcomes)) {
    screen.line(`  ${String(count).padStart(3)}  ${reason.padEnd(21)} ${paint('quiet', stopMeanings[reason])}`);
  }
  screen.line();
  screen.line(paint('strong', 'In short'));
  screen.line();
  printPromises(screen, outcomes, curable);
}

function summaryRow(name: string, { requestCount, without, with: withMulligan }: Figures): string {
  const half = (way: WayFigures): string =>
    share(way, requestCount).padEnd(widths.success) + String(way.serverCount).padEnd(widths.seen);
  return (
    name.padEnd(nameLength) +
    half(without) +
    half(withMulligan) +
    String(withMulligan.retryCount).padStart(widths.retries)
  );
}

function share({ successCount, successRatio }: WayFigures, requestCount: number): string {
  const counts = `${String(successCount).padStart(2)} of ${String(requestCount).padEnd(2)}`;
  return `${counts} ${percent(successRatio)}`;
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`.padStart(5);
}

/** Each line is a promise and what was measured of it. */
function printPromises(screen: Screen, outcomes: readonly RequestOutcome[], curable: readonly RequestOutcome[]): void {
  const { paint } = screen;
  const strong = (value: number | string): string => paint('strong', String(value));
  const promise = (kept: boolean, text: string): void =>
    screen.line(`${paint(kept ? 'good' : 'bad', kept ? '✔' : '✘')} ${text}`);
  const all = figuresOf(outcomes);
  const could = figuresOf(curable);
  const outage = figuresOf(outcomes.filter(({ scenario }) => scenario.hopeless));

  promise(
    could.with.successCount >= could.without.successCount,
    `Success: ${strong(percent(could.with.successRatio).trim())} of the clients instead of ${percent(could.without.successRatio).trim()}, the outage aside.`,
  );
  const failed = stopReasonCounts(curable.filter(({ gateway }) => !isSuccess(gateway.answer)));
  if (failed.length > 0) {
    const reasons = failed.map(([reason, count]) => `${count} ${reason}`).join(', ');
    screen.line(`  The others were not sent again on purpose: ${reasons}.`);
  }
  promise(
    all.with.unkeyedPostsSeenTwice === 0,
    `POSTs without Idempotency-Key that servers saw twice: ${strong(all.with.unkeyedPostsSeenTwice)} of ${all.unkeyedPostCount}.`,
  );
  promise(
    all.with.alteredCount === 0,
    `Sends whose body or key differed from the client's: ${strong(all.with.alteredCount)} of ${all.with.serverCount}.`,
  );
  const allowedCount = Math.max(outageBudget.reserveCount, (outageBudget.percent * outage.requestCount) / 100);
  promise(
    outage.with.retryCount <= allowedCount,
    `Load in the outage: ${strong(outage.with.amplification.toFixed(2))} × that of the clients (${outage.with.retryCount} retries for ${outage.requestCount} requests); overall ${all.with.amplification.toFixed(2)} ×.`,
  );
}
