/**
 * Fuzzes the parsers against Node's own, and a whole proxy on loopback, with messages and frames that are broken at random.
 *
 *   node scripts/fuzz.ts --cases 1000000 --seed 1 --seconds 600 --target parsers --target requests
 *
 * Case n of each target uses seed + n, so a reported seed with `--cases 1` repeats one case. Exit code 1 when something
 * was found.
 */
import { parseArgs } from 'node:util';
import { fuzzTargets, runCampaign } from '../test/fuzz/campaign.ts';
import type { FuzzTarget } from '../test/fuzz/campaign.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    target: { type: 'string', multiple: true, default: [...fuzzTargets] },
  },
});
const caseCount = wholeNumber('--cases', values.cases, 1);
const seed = wholeNumber('--seed', values.seed, 0);
const seconds = wholeNumber('--seconds', values.seconds, 1);
const targets = fuzzTargets.filter((target) => values.target.includes(target));
const unknown = values.target.find((name) => !fuzzTargets.includes(name as FuzzTarget));
if (unknown !== undefined) refuse(`--target ${unknown} is not known: ${fuzzTargets.join(', ')}.`);

process.stdout.write(`Seed ${seed}, at most ${caseCount} cases and ${seconds} s for each target.\n`);
let totalCount = 0;
const startBytes = process.memoryUsage.rss();
for (const target of targets) {
  const result = await runCampaign(target, { seed, caseCount, seconds });
  totalCount += result.caseCount;
  const rate = Math.round(result.caseCount / result.seconds);
  process.stdout.write(
    `${target.padEnd(16)} ${String(result.caseCount).padStart(9)} cases  ${result.seconds.toFixed(1).padStart(7)} s  ${String(rate).padStart(6)} a second\n`,
  );
  if (result.finding === undefined) continue;
  process.exitCode = 1;
  process.stdout.write(`  found at seed ${result.finding.seed}: ${result.finding.words}\n`);
}
const grownMiB = (process.memoryUsage.rss() - startBytes) / 1024 / 1024;
process.stdout.write(`${totalCount} cases, memory ${grownMiB.toFixed(0)} MiB above the start.\n`);

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) refuse(`${name} must be a whole number from ${least}.`);
  return value;
}

function refuse(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
