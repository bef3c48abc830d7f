import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { COMPATIBILITY_PAGE, compatibilityPage } from './compatibility/page.ts';
import { PEER_SUITES } from './compatibility/suites.ts';

failOnLeaks();

for (const { title, cases } of PEER_SUITES) {
  describe(title, () => {
    for (const { name, ours, run } of cases) test(name, async (t) => assert.equal(await run(t), ours));
  });
}

test('the page shows what is run here', () => {
  assert.equal(readFileSync(COMPATIBILITY_PAGE, 'utf8'), compatibilityPage(), 'npm run compatibility writes it anew');
});
