import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { test } from 'node:test';
import { importsOf } from '../support/source-text.ts';

const sources = (layer: string): string[] => globSync(`src/${layer}/**/*.ts`).sort();

/** The files that a file imports, as paths from the root. */
function importedBy(path: string): string[] {
  return importsOf(readFileSync(path, 'utf8')).flatMap(({ specifier }) =>
    specifier?.startsWith('.') === true ? [normalize(join(dirname(path), specifier))] : [],
  );
}

/** What reads topologies, from whatever file. Everything else gets a topology as data, wherever it came from. */
const READERS = [
  'call-graph-checks',
  'call-places',
  'call-rules',
  'fault-checks',
  'gateway-topology',
  'hidden-layer',
  'json-place',
  'operation-names',
  'read-source',
  'read-topology',
  'to-topology',
  'topology-checks',
  'topology-file',
  'topology-form',
  'topology-schema',
  'topology-source',
  'topology-values',
  'traces/jaeger',
  'traces/otlp',
  'traces/read-traces',
  'traces/span',
  'traces/span-fault',
  'traces/statistics',
  'traces/traces-topology',
  'traces/without-circles',
  'traces/zipkin',
  'work-time',
];

test('only what reads a topology file knows the configuration', () => {
  const readers = sources('simulator').filter((path) =>
    importedBy(path).some((file) => file.startsWith('src/config/')),
  );
  assert.deepEqual(readers, READERS.map((name) => `src/simulator/${name}.ts`).toSorted());
});

test('what runs a simulation imports nothing that reads a file', () => {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const file of importedBy(path)) visit(file);
  };
  visit('src/simulator/simulation.ts');
  assert.ok(seen.has('src/core/decide.ts'));
  assert.deepEqual(
    [...seen].filter((path) => !/^src\/(?:core|simulator)\//.test(path)),
    [],
  );
});

// The rules of a retry, each in the one module of core that owns it.
const RULES = [
  'src/core/circuit-breaker.ts',
  'src/core/deadline.ts',
  'src/core/permits.ts',
  'src/core/pick-endpoint.ts',
  'src/core/request-session.ts',
  'src/core/retry-budget.ts',
  'src/core/verdict.ts',
];

test('the simulator decides by the very modules that the gateway decides by', () => {
  const simulated = new Set(sources('simulator').flatMap(importedBy));
  const served = new Set([...sources('engine'), ...sources('transport'), ...sources('gateway')].flatMap(importedBy));
  for (const rule of RULES) {
    assert.ok(simulated.has(rule), `the simulator imports ${rule}`);
    assert.ok(served.has(rule), `the gateway imports ${rule}`);
  }
  for (const rule of ['attribute', 'claimed-facts', 'outbound-ending'])
    assert.ok(simulated.has(`src/core/ownership/${rule}.ts`), rule);
});

test('nothing that core does is done a second time in the simulator', () => {
  const names = (paths: readonly string[], pattern: RegExp): Set<string> =>
    new Set(paths.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name]) => name!)));
  const owned = names(sources('core'), /^export (?:function|const|class) (\w+)/gm);
  const declared = names(sources('simulator'), /^(?:export )?(?:function|const|class) (\w+)/gm);
  assert.ok(owned.has('decide') && owned.has('createRequestSession') && declared.has('createSimulation'));
  assert.deepEqual(
    [...declared].filter((name) => owned.has(name)),
    [],
  );
  for (const path of sources('simulator')) {
    const text = readFileSync(path, 'utf8');
    assert.doesNotMatch(text, /type: 'retry'|type: 'stop'/, `${path} makes no decision of its own`);
  }
});
