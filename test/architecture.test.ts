import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { breaches } from './support/layer-rules.ts';
import type { LayerRule, SourceFile } from './support/layer-rules.ts';
import { importsOf } from './support/source-text.ts';

/** The picture of docs/architecture.md as data: the arrows, and what of the outside each layer may touch. */
const LAYERS: Readonly<Record<string, LayerRule>> = {
  core: { layers: [], node: [], packages: [], pure: true },
  http1: { layers: [], node: [], packages: [], pure: false },
  // No node:http here: below us nobody may send again on its own, and only our own connection tells what was written.
  // node:http2 is given no request that it would have to keep.
  transport: {
    layers: ['core', 'http1'],
    node: ['node:dns', 'node:http2', 'node:net', 'node:stream', 'node:tls', 'node:util', 'node:zlib'],
    packages: [],
    pure: false,
  },
  engine: { layers: ['core', 'http1', 'transport'], node: [], packages: ['structured-headers'], pure: false },
  proxy: { layers: ['core', 'http1', 'transport', 'engine'], node: 'any', packages: [], pure: false },
  client: { layers: ['core', 'http1', 'transport', 'engine'], node: 'any', packages: ['undici'], pure: false },
  config: { layers: ['core'], node: ['node:net'], packages: ['yaml', 'zod'], pure: false },
  telemetry: {
    layers: ['core'],
    node: ['node:http', 'node:https'],
    packages: [
      'prom-client',
      '@opentelemetry/api',
      '@opentelemetry/core',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
    ],
    pure: false,
  },
  gateway: {
    layers: ['core', 'http1', 'transport', 'engine', 'proxy', 'config', 'telemetry'],
    node: 'any',
    packages: [],
    pure: false,
  },
  // On virtual time: as pure as core. Only what reads a topology file may touch config (test/simulator/walls.test.ts).
  simulator: { layers: ['core', 'config'], node: [], packages: ['zod'], pure: true },
  // Hooks into the process around it, so it may touch all of Node; nothing of ours is built upon it.
  service: {
    layers: ['core', 'http1', 'transport', 'engine', 'config', 'telemetry'],
    node: 'any',
    packages: ['@opentelemetry/api', 'prom-client', 'zod'],
    pure: false,
  },
  linter: { layers: ['core', 'config', 'simulator'], node: [], packages: [], pure: true },
  cli: {
    layers: ['core', 'transport', 'engine', 'proxy', 'client', 'service', 'config', 'gateway', 'simulator', 'linter'],
    node: 'any',
    packages: ['commander'],
    pure: false,
  },
};

/** Sources over 250 lines, each with the reason why cutting it would make it worse. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'src/engine/run-request.ts': 'one state machine: the outcomes of attempts and what follows each, side by side',
  'src/http1/message-parser.ts': 'one state machine: every state of a message and its way to the next',
  'src/transport/http1/http1-connection.ts': 'one state machine: a connection from its first to its last exchange',
  'src/transport/http1/http1-exchange.ts': 'one state machine: the phases of one attempt',
  'src/transport/http2/http2-exchange.ts': 'one state machine: the phases of one attempt, as on HTTP/1.1',
};

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
}

const read = (path: string): SourceFile => ({ path, text: readFileSync(path, 'utf8') });
const sources = globSync('src/**/*.ts').sort().map(read);

const breachesOf = (path: string, text: string): string[] => breaches([{ path, text }], LAYERS, {});

test('every source keeps to the walls between the layers', () => {
  assert.ok(sources.length > 50, 'the sources were found');
  assert.deepEqual(breaches(sources, LAYERS, LONG_FILES), []);
});

test('every layer references in its tsconfig exactly the layers that the picture lets it import', () => {
  const layers = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(layers.map((entry) => entry.name).sort(), Object.keys(LAYERS).sort());
  for (const [layer, rule] of Object.entries(LAYERS)) {
    const config = JSON.parse(readFileSync(`src/${layer}/tsconfig.json`, 'utf8')) as {
      readonly references: readonly { readonly path: string }[];
    };
    const referenced = config.references.map(({ path }) => path.replace('../', ''));
    assert.deepEqual(referenced.sort(), [...rule.layers].sort(), `src/${layer}/tsconfig.json`);
  }
});

test('the arrows between the layers form no circle', () => {
  const below = (layer: string, path: readonly string[]): void => {
    assert.ok(!path.includes(layer), `circle: ${[...path, layer].join(' -> ')}`);
    for (const next of LAYERS[layer]!.layers) below(next, [...path, layer]);
  };
  for (const layer of Object.keys(LAYERS)) below(layer, []);
});

test('sources are 130 lines long on average at most', () => {
  const lineCount = sources.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  assert.ok(lineCount / sources.length <= 130, `mean is ${(lineCount / sources.length).toFixed(1)} lines`);
});

test('no test is switched off or runs alone', () => {
  const mark = new RegExp(String.raw`\b(?:test|it|describe|suite|t)\.(?:only|todo)\b|\b(?:only|todo): true`);
  const marked = globSync('test/**/*.ts')
    .map(read)
    .filter(({ text }) => mark.test(text));
  assert.deepEqual(
    marked.map(({ path }) => path),
    [],
  );
});

// A checker that finds nothing passes for ever: each rule is shown a breach of it.
const BAD_SAMPLES: readonly (readonly [rule: string, path: string, text: string, expected: RegExp])[] = [
  [
    'an upward import',
    'src/core/a.ts',
    `import { send } from '../transport/transport.ts';`,
    /core may not import transport/,
  ],
  [
    'an upward import of a type',
    'src/http1/a.ts',
    `import type { Claim } from '../core/claim.ts';`,
    /http1 may not import core/,
  ],
  ['an upward re-export', 'src/engine/a.ts', `export { x } from '../proxy/proxy.ts';`, /engine may not import proxy/],
  [
    'an import over several lines',
    'src/engine/a.ts',
    `import {\n  a,\n  b,\n} from '../proxy/proxy.ts';`,
    /engine may not import proxy/,
  ],
  ['a dynamic import', 'src/engine/a.ts', `await import('../cli/main.ts');`, /engine may not import cli/],
  [
    'a type import in place',
    'src/core/a.ts',
    `let x: import('../engine/upstream.ts').Upstream;`,
    /core may not import engine/,
  ],
  ['a computed import', 'src/cli/a.ts', 'await import(name);', /computed/],
  ['a require', 'src/engine/a.ts', `require('../cli/main.ts');`, /engine may not import cli/],
  ['an import from outside src', 'src/cli/a.ts', `import { x } from '../../test/x.ts';`, /outside src/],
  [
    "another layer's barrel",
    'src/engine/a.ts',
    `import { decide } from '../core/index.ts';`,
    /name the file that owns/,
  ],
  [
    'a module of Node in core',
    'src/core/a.ts',
    `import { now } from 'node:perf_hooks';`,
    /core may not import node:perf_hooks/,
  ],
  [
    'node:http below the proxy',
    'src/transport/a.ts',
    `import http from 'node:http';`,
    /transport may not import node:http/,
  ],
  ['an unlisted package', 'src/gateway/a.ts', `import { z } from 'zod';`, /gateway may not import the package zod/],
  ['an unknown layer', 'src/utils/a.ts', '', /not in the table/],
  ['Date.now in core', 'src/core/a.ts', 'const now = Date.now();', /reads the clock/],
  ['new Date() in core', 'src/core/a.ts', 'const now = new Date();', /reads the clock/],
  ['new Date without parentheses in core', 'src/core/a.ts', 'const now = new Date;', /reads the clock/],
  ['Date() in core', 'src/core/a.ts', 'const now = Date();', /reads the clock/],
  ['Date.parse in core', 'src/core/a.ts', 'const at = Date.parse(text);', /time zone/],
  ['Math.random in core', 'src/core/a.ts', 'const r = Math.random();', /is random/],
  ['performance.now in core', 'src/core/a.ts', 'const r = performance.now();', /belongs to the host/],
  ['a timer in core', 'src/core/a.ts', 'setTimeout(next, 5);', /is a timer/],
  ['process in core', 'src/core/a.ts', 'const x = process.env;', /belongs to the host/],
  ['export *', 'src/core/a.ts', `export * from './claim.ts';`, /export \*/],
  ['export * as', 'src/core/a.ts', `export * as claims from './claim.ts';`, /export \*/],
  ['an enum', 'src/core/a.ts', 'export const enum Claim { owned }', /no enum/],
  ['a default export', 'src/core/a.ts', 'export default 5;', /no default export/],
  ['a file over 250 lines', 'src/core/a.ts', '\n'.repeat(251), /251 lines/],
];

for (const [rule, path, text, expected] of BAD_SAMPLES) {
  test(`the walls notice ${rule}`, () => {
    const found = breachesOf(path, text);
    assert.equal(found.length, 1, `one breach, got ${JSON.stringify(found)}`);
    assert.match(found[0]!, expected);
  });
}

test('the walls let through what only looks like a breach', () => {
  const text = [
    `// import { x } from '../proxy/proxy.ts'; Date.now()`,
    `/* setTimeout(() => Math.random()) */`,
    `import { claim } from './claim.ts';`,
    `const words = 'Date.now() and new Date()';`,
    `const midnight = new Date(Date.UTC(2026, 0, 1));`,
    `const year = date.process.length + this.performance.length + toDate(5);`,
    `const address = 'http://127.0.0.1';`,
  ].join('\n');
  assert.deepEqual(breachesOf('src/core/a.ts', text), []);
});

test('a reason for a long file that is no longer long, or gone, is noticed', () => {
  assert.match(breaches([{ path: 'src/core/a.ts', text: '' }], LAYERS, { 'src/core/a.ts': 'r' })[0]!, /no more/);
  assert.match(breaches([], LAYERS, { 'src/core/a.ts': 'r' })[0]!, /does not exist/);
});

test('imports are found with their line, whatever their form', () => {
  const text = `import a from 'a';\n\nimport type { B } from "b";\nimport 'c';\nexport { d } from 'd';\nconst e = import('e');`;
  assert.deepEqual(
    importsOf(text).map(({ specifier, line }) => `${specifier}:${line}`),
    ['a:1', 'b:3', 'c:4', 'd:5', 'e:6'],
  );
});

test('the benchmarks compile where only the packages of the repository itself are installed', () => {
  const installed = new Set(Object.keys((JSON.parse(read('package.json').text) as Manifest).devDependencies));
  const declared = globSync('bench/{client,peers}/*.d.ts')
    .map((path) => read(path).text)
    .join('\n');
  const missing = globSync('bench/**/*.ts', { exclude: ['bench/node_modules/**'] })
    .filter((path) => !path.endsWith('.d.ts'))
    .flatMap((path) =>
      importsOf(read(path).text).map(({ specifier, line }) => ({ specifier, place: `${path}:${line}` })),
    )
    // Neither a relative path nor node:…
    .filter(({ specifier }) => specifier !== undefined && /^[@a-z][\w@./-]*$/.test(specifier))
    .filter(({ specifier }) => !installed.has(specifier!) && !declared.includes(`declare module '${specifier}'`));
  assert.deepEqual(missing, [], 'a module that only bench/package.json brings is declared beside its user');
});
