/**
 * Differential fuzz of the HTTP/1.1 parsers against Node's own.
 *
 *   node scripts/fuzz-http1.ts --cases 1000000 --seed 1
 *
 * Case n uses seed + n, so a reported seed with `--cases 1` repeats one case. Exit code 1 when a case differs.
 */
import { parseArgs } from 'node:util';
import { fuzz } from '../test/http1/differential.ts';

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const caseCount = Number(values.cases);
const seed = Number(values.seed);
if (!Number.isSafeInteger(caseCount) || caseCount < 1 || !Number.isSafeInteger(seed)) {
  console.error('--cases must be a whole number from 1, --seed a whole number.');
  process.exit(2);
}

const startedMs = performance.now();
const report = fuzz(caseCount, seed);
const { difference } = report;
console.log(
  `${report.caseCount} cases from seed ${seed} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s: ` +
    `${report.agreedCount} messages read alike, ${report.refusedByBothCount} cases refused by both, ` +
    `${report.refusedByUsAloneCount} by us alone.`,
);
if (difference !== undefined) {
  const { wire } = difference;
  console.log(`Difference at seed ${difference.seed}: ${difference.words}`);
  console.log(
    `${wire.kind}${wire.requestMethod === '' ? '' : ` to ${wire.requestMethod}`}: ${JSON.stringify(wire.bytes.toString('latin1'))}`,
  );
  process.exitCode = 1;
}
