import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { checkCase } from './check-case.ts';
import type { PlayedCell } from './document.ts';
import { writeDocument } from './document.ts';
import { Lockstep } from './lockstep.ts';
import { playCase } from './play-case.ts';
import type { Scenario } from './scenario.ts';
import { cellName, cellsOf } from './scenario.ts';
import { releaseBlackHole } from './start-target.ts';
import { scenarios } from './scenarios/all.ts';

after(releaseBlackHole);
failOnLeaks();

const documentPath = 'docs/wire-matrix.md';
/** Ids of scenarios, with a semicolon between them: plays these alone, and looks at no document. */
const only = process.env['MULLIGAN_WIRE_ONLY']?.split(';');
const chosen = scenarios.filter(({ id }) => only === undefined || only.includes(id));
/** Cases at the same time. All of them wait for each other, so more is not faster. */
const concurrency = 48;

test('the wire matrix', { concurrency }, async (t) => {
  const lockstep = new Lockstep();
  const played = new Map<Scenario, PlayedCell[]>();
  const play = async (scenario: Scenario): Promise<void> => {
    const cells = cellsOf(scenario);
    const done: PlayedCell[] = [];
    played.set(scenario, done);
    await Promise.all(
      cells.map((cell, index) =>
        t.test(`${scenario.id}: ${scenario.title}; ${cellName(cell)}`, async (caseTest) => {
          const { expect } = scenario;
          const came = await playCase(caseTest, lockstep, scenario, cell);
          done[index] = { cell, played: came };
          checkCase(came, typeof expect === 'function' ? expect(cell) : expect, cell);
        }),
      ),
    );
  };
  await Promise.all(chosen.map(play));
  if (only !== undefined) return;
  await t.test(`${documentPath} says what came of this run`, () => {
    const document = writeDocument(scenarios, played);
    if (process.env['MULLIGAN_WIRE_MATRIX'] === 'write') writeFileSync(documentPath, document);
    assert.equal(readFileSync(documentPath, 'utf8'), document, 'npm run wire:matrix writes it anew');
  });
});

test('no two scenarios have the same name', () => {
  const ids = scenarios.map(({ id }) => id);
  assert.deepEqual([...new Set(ids)], ids);
});
