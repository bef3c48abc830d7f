import { setImmediate as nextTurn } from 'node:timers/promises';
import { fuzz } from '../http1/differential.ts';
import { requestCase, responseCase } from './http1-cases.ts';
import { http2ResponseCase, openHttp2Lane } from './http2-answers.ts';
import { http2RequestCase } from './http2-cases.ts';
import { openLane } from './lane.ts';

/** What is fuzzed. `parsers` compares ours with Node's; all others go through a real proxy on loopback. */
export type FuzzTarget = 'parsers' | 'requests' | 'responses' | 'http2-requests' | 'http2-responses';

export const fuzzTargets: readonly FuzzTarget[] = [
  'parsers',
  'requests',
  'responses',
  'http2-requests',
  'http2-responses',
];

export interface FuzzFinding {
  readonly seed: number;
  readonly words: string;
}

export interface FuzzResult {
  readonly target: FuzzTarget;
  readonly caseCount: number;
  readonly seconds: number;
  /** Undefined: nothing was found. The campaign ends with the first one. */
  readonly finding: FuzzFinding | undefined;
}

export interface CampaignOptions {
  /** Case n has the seed `seed + n`. */
  readonly seed: number;
  readonly caseCount: number;
  /** No case begins after that. */
  readonly seconds: number;
}

/** Cases of a proxy that run side by side. */
const laneCount = 4;
/** Cases of the parsers in a row; then the clock is looked at. */
const sliceCount = 5_000;

export async function runCampaign(target: FuzzTarget, options: CampaignOptions): Promise<FuzzResult> {
  const startedAtMs = performance.now();
  const untilMs = startedAtMs + options.seconds * 1_000;
  const { caseCount, finding } =
    target === 'parsers' ? await comparePlain(options, untilMs) : await driveLanes(target, options, untilMs);
  return { target, caseCount, seconds: (performance.now() - startedAtMs) / 1_000, finding };
}

interface Outcome {
  caseCount: number;
  finding: FuzzFinding | undefined;
}

async function comparePlain({ seed, caseCount }: CampaignOptions, untilMs: number): Promise<Outcome> {
  const outcome: Outcome = { caseCount: 0, finding: undefined };
  while (outcome.caseCount < caseCount && outcome.finding === undefined && performance.now() < untilMs) {
    const { difference, ...report } = fuzz(
      Math.min(sliceCount, caseCount - outcome.caseCount),
      seed + outcome.caseCount,
    );
    outcome.caseCount += report.caseCount;
    if (difference !== undefined) {
      const bytes = JSON.stringify(difference.wire.bytes.toString('latin1'));
      outcome.finding = { seed: difference.seed, words: `${difference.words}: ${difference.wire.kind} ${bytes}` };
    }
    await nextTurn();
  }
  return outcome;
}

async function driveLanes(
  target: Exclude<FuzzTarget, 'parsers'>,
  options: CampaignOptions,
  untilMs: number,
): Promise<Outcome> {
  const outcome: Outcome = { caseCount: 0, finding: undefined };
  const drive = async (
    run: (seed: number) => Promise<string | undefined>,
    close: () => Promise<void>,
  ): Promise<void> => {
    while (outcome.caseCount < options.caseCount && outcome.finding === undefined && performance.now() < untilMs) {
      const seed = options.seed + outcome.caseCount++;
      const words = await run(seed);
      if (words !== undefined) outcome.finding ??= { seed, words };
    }
    await close();
  };
  const open = async (): Promise<void> => {
    if (target === 'http2-responses') {
      const lane = await openHttp2Lane();
      return drive(
        (seed) => http2ResponseCase(lane, seed),
        () => lane.close(),
      );
    }
    const lane = await openLane();
    const cases = { requests: requestCase, responses: responseCase, 'http2-requests': http2RequestCase };
    return drive(
      (seed) => cases[target](lane, seed),
      () => lane.close(),
    );
  };
  await Promise.all(Array.from({ length: laneCount }, open));
  return outcome;
}
