import { once } from 'node:events';
import { exitCode } from '../exit-code.ts';
import type { Ending } from './ending.ts';
import { reportOfChain, runChain } from './chain-story.ts';
import type { ChainOutcome, ChainSpectator } from './chain-story.ts';
import { createChainTable } from './chain-table.ts';
import { createEnding, exitCodeOf, ReaderGone } from './ending.ts';
import { createNarrator } from './narrator.ts';
import { createReport } from './report.ts';
import { createScreen } from './screen.ts';
import type { Screen } from './screen.ts';
import type { Stage } from './stage.ts';
import { setStage } from './stage.ts';
import type { Spectator } from './traffic.ts';
import { runTraffic } from './traffic.ts';

export type DemoPart = 'chain' | 'gateway';

export interface DemoOptions {
  /** The one part to show; `undefined` for both. */
  readonly only: DemoPart | undefined;
  /** Print one JSON document instead of text for people. */
  readonly json: boolean;
  /** Stay up after the last request, and leave the files. */
  readonly keep: boolean;
}

const nobody: Spectator & ChainSpectator = {
  starting: () => {},
  measuring: () => {},
  measured: () => {},
  sending: () => {},
  directDone: () => {},
  scenarioBegins: () => {},
  gatewayDone: () => {},
};

/**
 * `mulligan demo`: a chain of services, then servers and a gateway; sends the requests, tells what happened, and takes
 * everything down.
 * @throws Error when something could not be started or did not end in time
 */
export async function showDemo(options: DemoOptions): Promise<void> {
  const ending = createEnding(options.keep ? undefined : process.stdout);
  try {
    const screen = createScreen(process.stdout, process.env);
    const startedAtMs = performance.now();
    const chain = options.only === 'gateway' ? undefined : await playChain(screen, options, ending);
    const play = { screen, startedAtMs, chain };
    if (options.only === 'chain') return reportChain(play, options);
    const stage = await setStage();
    try {
      await playGateway(stage, play, options, ending);
    } finally {
      await stage.close();
      if (!options.keep) stage.removeFiles();
    }
  } catch (error) {
    if (ending.signalName !== undefined) {
      // With --keep a signal is the ordinary end, however early it comes.
      process.exitCode = options.keep ? exitCode.fine : exitCodeOf(ending.signalName);
    } else if (!(ending.signal.reason instanceof ReaderGone)) throw error;
  } finally {
    ending.close();
  }
}

interface Play {
  readonly screen: Screen;
  readonly startedAtMs: number;
  readonly chain: readonly ChainOutcome[] | undefined;
}

async function playChain(screen: Screen, { json }: DemoOptions, { signal }: Ending): Promise<readonly ChainOutcome[]> {
  const table = json ? undefined : createChainTable(screen);
  const outcomes = await runChain(table ?? nobody, signal).finally(() => screen.endProgress());
  table?.conclude(outcomes);
  return outcomes;
}

function reportChain({ startedAtMs, chain = [] }: Play, { json }: DemoOptions): void {
  if (json) print({ durationMs: Math.round(performance.now() - startedAtMs), chain: reportOfChain(chain) });
}

function print(document: object): void {
  process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
}

async function playGateway(
  stage: Stage,
  { screen, startedAtMs, chain }: Play,
  { json, keep }: DemoOptions,
  ending: Ending,
): Promise<void> {
  const narrator = json ? undefined : createNarrator(screen, stage, keep);
  narrator?.introduce();
  const outcomes = await runTraffic(stage, narrator ?? nobody, ending.signal).finally(() => screen.endProgress());
  const durationMs = Math.round(performance.now() - startedAtMs);
  if (narrator === undefined) {
    const report = createReport(stage, outcomes, durationMs, keep);
    print(chain === undefined ? report : { ...report, chain: reportOfChain(chain) });
  } else narrator.conclude(outcomes, durationMs);
  if (!keep) return;
  ending.stayUp();
  if (!ending.signal.aborted) await once(ending.signal, 'abort');
}
