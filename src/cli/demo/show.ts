import { once } from 'node:events';
import { exitCode } from '../exit-code.ts';
import type { Ending } from './ending.ts';
import { createEnding, exitCodeOf, ReaderGone } from './ending.ts';
import { createNarrator } from './narrator.ts';
import { createReport } from './report.ts';
import { createScreen } from './screen.ts';
import type { Stage } from './stage.ts';
import { setStage } from './stage.ts';
import type { Spectator } from './traffic.ts';
import { runTraffic } from './traffic.ts';

export interface DemoOptions {
  /** Print one JSON document instead of text for people. */
  readonly json: boolean;
  /** Stay up after the last request, and leave the files. */
  readonly keep: boolean;
}

const nobody: Spectator = {
  sending: () => {},
  directDone: () => {},
  scenarioBegins: () => {},
  gatewayDone: () => {},
};

/**
 * `mulligan demo`: starts servers and a gateway, sends the requests, tells what happened, and takes everything down.
 * @throws Error when something could not be started or did not end in time
 */
export async function showDemo(options: DemoOptions): Promise<void> {
  const ending = createEnding(options.keep ? undefined : process.stdout);
  try {
    const stage = await setStage();
    try {
      await play(stage, options, ending);
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

async function play(stage: Stage, { json, keep }: DemoOptions, ending: Ending): Promise<void> {
  const startedAtMs = performance.now();
  const screen = createScreen(process.stdout, process.env);
  const narrator = json ? undefined : createNarrator(screen, stage, keep);
  narrator?.introduce();
  const outcomes = await runTraffic(stage, narrator ?? nobody, ending.signal).finally(() => screen.endProgress());
  const durationMs = Math.round(performance.now() - startedAtMs);
  if (narrator === undefined) {
    process.stdout.write(`${JSON.stringify(createReport(stage, outcomes, durationMs, keep), undefined, 2)}\n`);
  } else narrator.conclude(outcomes, durationMs);
  if (!keep) return;
  ending.stayUp();
  if (!ending.signal.aborted) await once(ending.signal, 'abort');
}
