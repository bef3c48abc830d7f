import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Who does its next thing when nothing is under way any more. */
export interface Player {
  /** Every byte that is on its way has arrived, in the whole process. */
  onQuiet(): void;
}

/**
 * Turns of the event loop in a row in which no socket had anything to say. On the loopback a byte that was written is
 * there for the next turn, and both ends live in this process: a silence of so many turns means that everybody waits.
 */
const quietTurns = 12;
/** The listener tells a half-close from a client that left by whether the process slept in between, so it has to. */
const restMs = 4;

/**
 * Plays many wire cases at a time, in lockstep: the clocks of all of them stand still while a byte moves anywhere. A case
 * may therefore keep the real timeouts of the product (seconds, minutes) and takes as long as its bytes take.
 */
export class Lockstep {
  readonly #players = new Set<Player>();
  #isRunning = false;

  join(player: Player): void {
    this.#players.add(player);
    if (!this.#isRunning) void this.#run();
  }

  leave(player: Player): void {
    this.#players.delete(player);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let turns = 0;
    let seen = eventCount();
    while (this.#players.size > 0) {
      await nextTurn();
      turns = eventCount() === seen ? turns + 1 : 0;
      seen = eventCount();
      if (turns < quietTurns) continue;
      turns = 0;
      await sleep(restMs);
      if (eventCount() !== seen) continue;
      for (const player of this.#players) player.onQuiet();
    }
    this.#isRunning = false;
  }
}

/** Of the system's event queue: sockets that became readable or writable, connections that came, work that was done. */
function eventCount(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}
