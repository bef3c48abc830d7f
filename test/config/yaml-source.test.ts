import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseConfig } from '../../src/config/parse.ts';
import { printable } from '../../src/config/fault.ts';
import { readYaml } from '../../src/config/yaml-source.ts';
import { faultsOf, smallest } from './support.ts';

const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an empty file',
    '',
    [
      '1:1 is empty (it needs at least `listeners`, `upstreams` and `routes`; see `mulligan proxy --help` for a gateway without a file)',
    ],
  ],
  [
    'a file of comments',
    '# nothing\n',
    [
      '1:1 is empty (it needs at least `listeners`, `upstreams` and `routes`; see `mulligan proxy --help` for a gateway without a file)',
    ],
  ],
  ['a list', '[]', ['1:1 must be a mapping, not a list']],
  [
    'two documents',
    `${smallest}---\na: 1\n`,
    ['9:1 holds more than one document (keep one: remove the `---` line and what follows it)'],
  ],
  ['a tab', 'listeners:\n\t- a', ['2:1 Tabs are not allowed as indentation (indent with spaces, not with tabs)']],
  ['a key twice', `${smallest}routes: []\n`, ['8:1 routes: is there twice (keep one of the two)']],
  [
    'a merge key',
    `${smallest}    <<: { name: a }\n`,
    ['8:5 routes[0]["<<"]: is not a known setting (merge keys are not read: write the settings out)'],
  ],
  [
    'a tag',
    `${smallest}workers: !!js/function 1\n`,
    [
      '8:10 Unresolved tag: tag:yaml.org,2002:js/function (tags (`!name`) are not read: write the plain value)',
      '8:24 workers: must be 1 (only one process is supported yet)',
    ],
  ],
  [
    'an older YAML',
    `%YAML 1.1\n---\n${smallest}`,
    ['1:1 asks for YAML 1.1 (remove the %YAML line: the file is read as YAML 1.2)'],
  ],
  ['a NUL', `${smallest}# \0`, ['8:3 holds a NUL character (is it a binary file, or UTF-16? save it as UTF-8 text)']],
  ['an alias before its anchor', 'a: *b', ['1:4 a: alias *b stands before its anchor (define &name first)']],
  [
    'an anchor inside itself',
    'a: &a { b: *a }',
    [
      `1:12 a${'.b'.repeat(31)}: is nested deeper than 32 levels (the deepest setting of a gateway file is 5 levels down)`,
    ],
  ],
];

for (const [name, text, expected] of rows)
  test(`${name} is refused with its place`, () => deepEqual(faultsOf(text), expected));

for (const key of ['__proto__', 'prototype', 'constructor']) {
  test(`the key ${key} is refused anywhere and reaches no prototype`, () => {
    deepEqual(faultsOf(`${smallest}    match: { "${key}": { polluted: true } }\n`), [
      `8:14 routes[0].match.${key}: is a key that no configuration may hold (rename or remove it)`,
    ]);
    equal(({} as Record<string, unknown>)['polluted'], undefined);
  });
}

const laughs = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from(
    { length: 9 },
    (_, index) => `a${index + 1}: &a${index + 1} [${Array.from({ length: 9 }, () => `*a${index}`).join(', ')}]`,
  ),
].join('\n');

for (const [name, text, message] of [
  ['a billion laughs', laughs, 'aliases'],
  ['deep brackets', '['.repeat(1_000_000), 'nested deeper'],
  ['deep dashes', '- '.repeat(500_000), 'nested deeper'],
  ['a million empty lines', '\n'.repeat(1_000_000), 'too many parts'],
  ['a hundred thousand anchors', '&a '.repeat(100_000), 'too many parts'],
  ['more than 1 MiB', `# ${'x'.repeat(1024 * 1024)}`, 'larger than 1 MiB'],
] as const) {
  test(`${name} ends in one fault`, () => {
    const faults = faultsOf(text);
    equal(faults.length, 1);
    ok(faults[0]!.includes(message), faults[0]);
  });
}

test('any text is either a configuration or a list of faults with places in it, never an exception', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...Array.from('{}[]:,-?&*!|>%@`\'"#~ \n\tab01.')) }),
    fc.json(),
  );
  fc.assert(fc.property(anyText, holds), { numRuns: 2000 });
});

test('a file with any part replaced by any text is read or refused, never an exception', () => {
  const full = `${smallest}    name: orders
    match: { hosts: [a.example], path: { prefix: /a }, methods: [GET] }
    timeouts: { request: 15s, backendRequest: 3s }
    retry: { codes: [502], attempts: 2, backoff: 25ms, maxBackoff: 250ms, on: [unsent] }
accessLog: { path: '-' }
`;
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'null',
      '[]',
      '{}',
      '-1',
      '1e400',
      '.nan',
      '__proto__',
      'constructor: {a: 1}',
      '"\\u0000"',
      '&a',
      '*a',
      '!!float 1',
      '<<',
      '0x10',
      '~',
    ),
  );
  fc.assert(
    fc.property(fc.nat(full.length), fc.nat(30), piece, (at, length, text) =>
      holds(full.slice(0, at) + text + full.slice(at + length)),
    ),
    { numRuns: 3000 },
  );
});

function holds(text: string): void {
  const before = Object.getOwnPropertyNames(Object.prototype).length;
  const result = parseConfig(text, 'f');
  const lines = text.split('\n');
  for (const fault of result.ok ? result.warnings : result.faults) {
    ok(fault.line >= 1 && fault.line <= lines.length, `line ${fault.line} of ${lines.length}`);
    ok(fault.column >= 1 && fault.column <= lines[fault.line - 1]!.length + 1, `column ${fault.column}`);
    equal(
      printable(fault.message + fault.hint, Infinity),
      fault.message + fault.hint,
      'a control character reaches the terminal',
    );
  }
  if (!result.ok) ok(result.faults.some((fault) => fault.severity === 'error'));
  equal(Object.getOwnPropertyNames(Object.prototype).length, before);
}

test('numbers and words are those of the core schema', () => {
  deepEqual(
    { ...(readYaml('a: yes\nb: 0o17\nc: 1_000\nd: true\ne: ~\nf: 12:30').data as object) },
    { a: 'yes', b: 15, c: '1_000', d: true, e: null, f: '12:30' },
  );
});
