import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { StopReason } from '../src/core/decision.ts';
import { EVENT_TYPES } from '../src/gateway/admin/event-filter.ts';
import type { ResponseFlag } from '../src/proxy/access-record.ts';
import { ENDPOINT_STATES } from '../src/telemetry/live-reading.ts';
import { startAdminRig } from './gateway/admin/rig.ts';

const text = readFileSync('docs/operations.md', 'utf8');

/** First columns of the table whose head begins with this word, without their marks, and the other columns. */
function table(head: string): Map<string, string[]> {
  const lines = text.slice(text.indexOf(`\n| ${head} |`) + 1).split('\n');
  const rows = lines.slice(
    2,
    lines.findIndex((line) => !line.startsWith('|')),
  );
  return new Map(
    rows.map((row) => {
      const [first = '', ...rest] = row.split(' |').map((cell) => cell.replace(/^\|? ?/, '').trim());
      return [first.replaceAll('`', ''), rest];
    }),
  );
}

/** The compiler sees to it that none is missing here. */
const reasons: Readonly<Record<StopReason, true>> = {
  success: true,
  'not-retryable': true,
  'not-idempotent': true,
  'body-not-replayable': true,
  committed: true,
  'not-owner': true,
  'advised-never': true,
  'attempts-exhausted': true,
  deadline: true,
  'retry-after-too-long': true,
  'circuit-open': true,
  'no-endpoint': true,
  'retry-of-retry': true,
  'budget-exhausted': true,
  'downstream-gone': true,
};

const flags: Readonly<Record<ResponseFlag, true>> = {
  UF: true,
  UC: true,
  UT: true,
  UO: true,
  URX: true,
  NR: true,
  UH: true,
  DC: true,
  DPE: true,
  CB: true,
  IB: true,
};

test('the tables of reasons, flags and endpoint states are those of the code', () => {
  deepEqual([...table('reason').keys()], Object.keys(reasons));
  deepEqual([...table('flag').keys()], Object.keys(flags));
  deepEqual([...table('endpoint state').keys()], ENDPOINT_STATES);
});

test('the table of events says what the code says', () => {
  deepEqual(
    [...table('event')].map(([type, [says]]) => [type, says]),
    Object.entries(EVENT_TYPES),
  );
});

test('the table of metrics has every metric with its labels, and the queries name no other', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9']);
  const { families } = await rig.metrics();
  const documented = table('metric');
  deepEqual([...documented.keys()].sort(), [...families.keys()].filter((name) => name.startsWith('mulligan_')).sort());
  for (const [name, { samples }] of families) {
    if (!name.startsWith('mulligan_')) continue;
    const labels = documented
      .get(name)![0]!
      .split(', ')
      .filter((label) => label !== '');
    for (const sample of samples)
      deepEqual(
        Object.keys(sample.labels).filter((label) => label !== 'le'),
        labels,
        name,
      );
  }
  for (const [name] of text.matchAll(/\b(?:mulligan|nodejs|process)_[a-z0-9_]+\b/g))
    if (!name.endsWith('_')) ok(families.has(name), `${name} is named in the document`);
});

test('the table of paths has every link of the index', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9']);
  const listed = [...table('path').keys()].join(' ');
  const links = [...(await rig.ask('/')).text.matchAll(/href="([^"]+)"/g)];
  equal(links.length, 7);
  for (const [, path] of links) ok(listed.includes(path!), path);
});
