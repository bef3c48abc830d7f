import type { ChainOutcome, ChainSpectator } from './chain-story.ts';
import { chainRequestCount, chainServices } from './chain-story.ts';
import type { Screen } from './screen.ts';

const nameLength = 29;
const cellLength = 6;

/** Tells people the story of the chain, as it happens. */
export function createChainTable(
  screen: Screen,
): ChainSpectator & { conclude(outcomes: readonly ChainOutcome[]): void } {
  const { line, paint } = screen;
  let tableBegun = false;
  return {
    starting() {
      line(paint('strong', 'A chain: seven services, A calls B calls C … to G, each a process of its own. D fails.'));
      line('They take part in error ownership by `node --import mulligan/register`, without a line of code.');
      line();
      screen.progress('starting seven services …');
    },
    measuring(name) {
      screen.progress(`${chainRequestCount} requests to A: ${name} …`);
    },
    measured({ name, servedCounts, expectedCounts, untrackedCallCount }) {
      if (!tableBegun) {
        tableBegun = true;
        line(paint('quiet', `Requests that each service got for one at A (${chainRequestCount} were sent):`));
        line(paint('quiet', ''.padEnd(nameLength) + chainServices.map((one) => one.padStart(cellLength)).join('')));
      }
      const cells = servedCounts.map((count, index) => {
        const text = shown(count).padStart(cellLength);
        return count === expectedCounts[index] ? text : paint('bad', text);
      });
      const note = untrackedCallCount === 0 ? '' : `   C counts ${untrackedCallCount} stray calls`;
      line(name.padEnd(nameLength) + cells.join('') + paint('quiet', note));
    },
    conclude(outcomes) {
      screen.endProgress();
      line();
      const everywhere = loadOfFailing(outcomes[0]);
      const owned = loadOfFailing(outcomes[2]);
      const isKept = outcomes.every(({ servedCounts, expectedCounts }) =>
        servedCounts.every((count, index) => count === expectedCounts[index]),
      );
      const mark = paint(isKept ? 'good' : 'bad', isKept ? '✔' : '✘');
      line(
        `${mark} D gets ${paint('strong', owned)} requests for one instead of ${everywhere}: C, next to it, retries, and says so;`,
      );
      line('  B and A pass the error on. All of it is what the formulas say (docs/chain-lab.md).');
      line();
    },
  };
}

function loadOfFailing(outcome: ChainOutcome | undefined): string {
  return shown(outcome?.servedCounts[3] ?? Number.NaN);
}

function shown(count: number): string {
  return String(Math.round((count / chainRequestCount) * 100) / 100);
}
