import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { fuzzTargets, runCampaign } from './campaign.ts';

failOnLeaks();

/** A share; `npm run fuzz` goes on for as long as one likes. The parsers have a test of their own. */
for (const target of fuzzTargets.filter((one) => one !== 'parsers')) {
  test(`${target} that are broken at random neither crash nor hang the proxy, and nothing is made of them that was not said`, async () => {
    const { finding, caseCount } = await runCampaign(target, { seed: 20_261_130, caseCount: 400, seconds: 5 });
    assert.equal(finding, undefined, `seed ${finding?.seed}: ${finding?.words}`);
    assert.ok(caseCount > 0);
  });
}
