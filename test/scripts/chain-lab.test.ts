import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { experiments } from '../../scripts/chain/all.ts';
import { arrivalSpread } from '../../scripts/chain/arrival-spread.ts';
import { DOCUMENT, readMeasured, sectionFor } from '../../scripts/chain/document.ts';
import { isMet, type ExperimentCase, type Measured } from '../../scripts/chain/experiment.ts';
import { ServicePool } from '../../scripts/chain/service-pool.ts';
import { sectionOf } from '../../scripts/storms/document.ts';

const document = readFileSync(DOCUMENT, 'utf8');
const file = readMeasured();
const stale = 'npm run lab:chain writes it anew';

for (const experiment of experiments) {
  test(`what was measured of ${experiment.id} is what it must be, within 5 % of the simulator, and what the document says`, () => {
    const measured = file[experiment.id];
    assert.ok(measured !== undefined, stale);
    assert.deepEqual(
      Object.keys(measured),
      experiment.cases.map(({ name }) => name),
      stale,
    );
    const judgements = new Map(experiment.cases.map((one) => [one.name, one.judge(measured[one.name]!)]));
    for (const [name, judgement] of judgements) assert.ok(isMet(judgement), `${name}: ${JSON.stringify(judgement)}`);
    assert.equal(
      sectionOf(document, experiment.id),
      sectionFor(experiment, (name) => judgements.get(name)!),
      stale,
    );
  });
}

test('the document has exactly the experiments that are run, in their order', () => {
  assert.deepEqual(
    [...document.matchAll(/<!-- lab: ([\w-]+) -->/g)].map(([, id]) => id),
    experiments.map(({ id }) => id),
  );
});

/** A small share: the whole lab costs minutes, and the chain of seven is that of the demo, whose tests run it. */
const SHARE: readonly (readonly [experiment: string, name: string])[] = [
  ['strangers', 'C passes the claim on'],
  ['strangers', 'C drops it'],
  ['strangers', 'C drops it, and retries'],
];

describe('real services in processes of their own', () => {
  const pool = new ServicePool();
  after(() => pool.close());

  for (const [id, name] of SHARE) {
    test(`get again what the document says: ${name}`, async (t) => {
      const measured = await caseOf(id, name).measure(pool, t.signal);
      assert.deepEqual(countsOf(measured), countsOf(file[id]![name]!));
      assert.ok(isMet(caseOf(id, name).judge(measured)), JSON.stringify(measured));
    });
  }
});

test('an experiment that counts other than it must is noticed', () => {
  const { judge } = caseOf('modes', 'ownership');
  const measured = file['modes']!['ownership']!;
  assert.ok(isMet(judge(measured)));
  const readings = measured.readings.map((reading, index) =>
    index === 4 ? { ...reading, servedCount: reading.servedCount + 1 } : reading,
  );
  assert.ok(!isMet(judge({ ...measured, readings })));
});

test('the requests that chance brings to a service are as many as the formula says', () => {
  const { mean } = arrivalSpread([true, true, true], 0.3, 3);
  assert.ok(Math.abs(mean - (1 - 0.3 ** 8) / 0.7) < 1e-12);
  assert.deepEqual(arrivalSpread([true, false], 0.25, 0), { mean: 1, deviation: 0 });
  const { mean: one, deviation } = arrivalSpread([true], 0.25, 1);
  assert.ok(Math.abs(one - 1.25) < 1e-12 && Math.abs(deviation ** 2 - 0.25 * 0.75) < 1e-12);
});

function caseOf(id: string, name: string): ExperimentCase {
  const found = experiments.find((one) => one.id === id)?.cases.find((one) => one.name === name);
  assert.ok(found !== undefined, `${id}: ${name}`);
  return found;
}

function countsOf({ failedCount, readings }: Measured): readonly number[] {
  return [failedCount, ...readings.map(({ servedCount }) => servedCount)];
}
