import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatResults } from '../../src/simulator/format-results.ts';
import { createSimulation, simulate } from '../../src/simulator/simulation.ts';
import { formatMs, formatPercent, textTable } from '../../src/simulator/text-table.ts';
import { chain, topologyOf } from './support.ts';

const topology = topologyOf(
  chain({
    length: 3,
    budgetPercent: 10,
    faults: 'faults: [{ at: 5s, for: 5s, service: C, errorPercent: 100, status: 503 }]',
  }),
);

test('several modes stand side by side, with what they mean and what went wrong', () => {
  const text = formatResults((['retries', 'ownership'] as const).map((mode) => simulate(topology, { mode })));
  assert.match(text, /^20 s of virtual time, seed 1, \d+ requests\n {2}5000 ms – 10 s {2}C: 100 % answered 503\n/);
  assert.match(text, /\nretries: the retries of the file, without budgets/);
  assert.match(text, /\n {20,}retries +ownership\n/);
  assert.match(text, /\nC\/get +\d\.\d\d \(\d\.\d\d\) +\d\.\d\d \(\d\.\d\d\)\n/);
  assert.match(text, /\nnot-owner +0 +\d+\n/);
  assert.match(text, /\nrecovered after +0 ms +0 ms\n/);
});

test('each mode has a line of plain words', () => {
  const text = formatResults((['retries', 'ownership'] as const).map((mode) => simulate(topology, { mode })));
  assert.match(
    text,
    /\nretries {4}amplification \d\.\d+x at C\/get; recovers as soon as the fault ends; \d\d\.\d % answered\n/,
  );
  assert.match(text, /\nretries taken away by +retries +ownership\nbudget-exhausted +0 +\d+\nnot-owner +0 +\d+\n/);
});

test('a fault that the run does not reach is told as such, and nothing waits for its end', () => {
  const result = simulate(topology, { durationMs: 4000 });
  assert.deepEqual(
    result.faults.map(({ fromMs, untilMs, isMissed }) => [fromMs, untilMs, isMissed]),
    [[5000, 5000, true]],
  );
  const text = formatResults([result]);
  assert.match(text, /\n {2}5000 ms {2}C: 100 % answered 503: not reached, the run ends before it\n/);
  assert.match(text, /\nfile {2}no amplification; 100\.00 % answered\n/);
});

test('one run shows each operation', () => {
  const text = formatResults([simulate(topology)]);
  assert.match(
    text,
    /\noperation +arrived +failed +shed +too late +for nobody +p50 +p99 +p99\.9 +longest queue\nA\/get/,
  );
});

test('a run that was ended early says so', () => {
  const simulation = createSimulation(topology);
  simulation.advance(2000);
  assert.match(formatResults([simulation.result()]), /virtual time of 20 s, ended early/);
});

test('no results are no text', () => {
  assert.equal(formatResults([]), '');
});

test('what is not quite all does not look like all', () => {
  assert.equal(formatPercent(0.99999), '>99.99 %');
  assert.equal(formatPercent(1), '100.00 %');
  assert.equal(formatPercent(0.5), '50.0 %');
  assert.equal(formatMs(undefined), '–');
});

test('columns of numbers end below each other', () => {
  assert.equal(
    textTable(
      ['a', 'b'],
      [
        ['long', '5'],
        ['x', '100'],
      ],
    ),
    'a       b\nlong    5\nx     100',
  );
});
