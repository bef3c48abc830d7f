import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { reproductions } from '../../scripts/storms/all.ts';
import { DOCUMENT, sectionOf, withSection, write } from '../../scripts/storms/document.ts';
import { exactly, near, within } from '../../scripts/storms/reproduction.ts';

const document = readFileSync(DOCUMENT, 'utf8');

for (const reproduction of reproductions) {
  test(`the storm ${reproduction.id} comes out as expected, and as its section and picture say`, () => {
    const finding = reproduction.run();
    for (const { what, expected, measured, holds } of finding.rows)
      assert.ok(holds, `${what}: ${measured}, expected ${expected}`);
    const { picturePath, picture, section } = write(reproduction, finding);
    const stale = 'npm run lab:storms writes it anew';
    assert.equal(sectionOf(document, reproduction.id), section, stale);
    assert.equal(readFileSync(picturePath, 'utf8'), picture, stale);
  });
}

test('the document has exactly the reproductions that are run, in their order, and no other picture', () => {
  const ids = reproductions.map(({ id }) => id);
  assert.deepEqual(
    [...document.matchAll(/<!-- lab: ([\w-]+) -->/g)].map(([, id]) => id),
    ids,
  );
  assert.deepEqual(globSync('docs/storms/*').sort(), ids.map((id) => `docs/storms/${id}.svg`).toSorted());
});

test('a number that is missed is noticed, whichever way it was expected', () => {
  assert.equal(exactly('a', 8, 8).holds, true);
  assert.equal(exactly('a', 8, 7.99).holds, false);
  assert.equal(near('a', 0.5, 0.509, 0.01).holds, true);
  assert.equal(near('a', 0.5, 0.52, 0.01).holds, false);
  assert.equal(within('a', 1, 2, 2).holds, true);
  assert.equal(within('a', 1, 2, Infinity).holds, false);
  assert.deepEqual(near('a', 0.12345, 0.5, 0.0123), {
    what: 'a',
    expected: '0.123 ± 0.012',
    measured: '0.5',
    holds: false,
  });
});

test('a section is written between its marks and nowhere else', () => {
  const text = 'a\n<!-- lab: x -->\nold\n<!-- end -->\nb\n<!-- lab: y -->\n<!-- end -->\n';
  assert.equal(
    withSection(text, 'x', 'new $& text\n'),
    text.replace('old\n', () => 'new $& text\n'),
  );
  assert.equal(sectionOf(text, 'y'), '');
  assert.throws(() => withSection(text, 'z', ''), /has no <!-- lab: z -->/);
});
