import { constants } from 'node:os';

/** What cuts a demo short. */
export interface Ending {
  /** Aborted when the demo is to end before it is through. */
  readonly signal: AbortSignal;
  /** The signal that asked for the end, if one did. */
  readonly signalName: NodeJS.Signals | undefined;
  /** From here on only a signal ends it: time and readers no longer count. */
  stayUp(): void;
  close(): void;
}

/** It takes about ten seconds, most of them to start seven services; a machine that is very busy gets this much. */
const timeLimitMs = 90_000;

/**
 * Ends the demo on SIGINT and SIGTERM, and after 90 s.
 * @param out End it, too, when nobody reads this any more.
 */
export function createEnding(out: NodeJS.WriteStream | undefined): Ending {
  const controller = new AbortController();
  let signalName: NodeJS.Signals | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    signalName = name;
    controller.abort(new Error(`ended by ${name}`));
  };
  const onOutputError = (): void => controller.abort(new ReaderGone());
  const timer = setTimeout(() => {
    const seconds = timeLimitMs / 1000;
    controller.abort(new Error(`the demo was not through after ${seconds} s; is the machine very busy? Run it again`));
  }, timeLimitMs);
  const stayUp = (): void => {
    clearTimeout(timer);
    out?.off('error', onOutputError);
  };
  // Once: a second signal ends the process as if nobody listened.
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  out?.on('error', onOutputError);
  return {
    signal: controller.signal,
    get signalName() {
      return signalName;
    },
    stayUp,
    close() {
      stayUp();
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

/** `mulligan demo | head`: the reader has what it wanted, so there is nothing left to do. */
export class ReaderGone extends Error {}

/** What a shell reports of a process that a signal ended. */
export function exitCodeOf(signalName: NodeJS.Signals): number {
  return 128 + constants.signals[signalName];
}
