/**
 * `npm run lab:storms [-- ID …]`: runs the storms of docs/storms.md again, prints what was expected and what was measured,
 * and writes the pictures and numbers of the document. Exits 1 when a number is not met.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { reproductions } from './storms/all.ts';
import { DOCUMENT, withSection, write } from './storms/document.ts';

const wanted = process.argv.slice(2);
const chosen = reproductions.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
if (chosen.length === 0) {
  console.error(`no such reproduction; known: ${reproductions.map(({ id }) => id).join(', ')}`);
  process.exitCode = 1;
}
mkdirSync('docs/storms', { recursive: true });
let document = readFileSync(DOCUMENT, 'utf8');
for (const reproduction of chosen) {
  const startedAtMs = performance.now();
  const finding = reproduction.run();
  const { picturePath, picture, section } = write(reproduction, finding);
  writeFileSync(picturePath, picture);
  document = withSection(document, reproduction.id, section);
  const missed = finding.rows.filter(({ holds }) => !holds);
  const spentMs = Math.round(performance.now() - startedAtMs);
  console.log(`${missed.length === 0 ? '✔' : '✖'} ${reproduction.id} (${spentMs} ms)`);
  for (const { what, expected, measured, holds } of finding.rows)
    console.log(`    ${holds ? ' ' : '✖'} ${what}: ${measured} (expected ${expected})`);
  if (missed.length > 0) process.exitCode = 1;
}
writeFileSync(DOCUMENT, document);
