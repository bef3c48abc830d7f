import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fuzz } from './differential.ts';

const CASES = 100_000;

it("what Node's parser refuses is refused, and what both accept reads the same, cut or whole", () => {
  const report = fuzz(CASES, 20_261_129);
  const { difference } = report;
  if (difference !== undefined) {
    assert.fail(
      `seed ${difference.seed}, ${difference.wire.kind} ${JSON.stringify(difference.wire.bytes.toString('latin1'))}: ${difference.words}`,
    );
  }
  assert.equal(report.caseCount, CASES);
  // A generator that only made garbage, or a parser that refused everything, would find no difference either.
  assert.ok(report.agreedCount > CASES * 0.3, `only ${report.agreedCount} messages were read to the end`);
  assert.ok(report.refusedByBothCount > CASES * 0.3, `only ${report.refusedByBothCount} cases were refused by both`);
  assert.ok(
    report.refusedByUsAloneCount < CASES * 0.15,
    `${report.refusedByUsAloneCount} cases were refused by us alone`,
  );
});
