import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, faultsOf, smallest, withRoute } from './support.ts';

const target = (list: string): string => smallest.replace('upstream: orders', `upstream: ${list}`);
const errorsOf = (text: string): string[] => faultsOf(text).filter((line) => !line.includes(' warning: '));

test('a list of targets is read, its weights 1 when left out', () => {
  deepEqual(configOf(target('[{ upstream: orders, weight: 9 }]')).routes[0]!.targets, [
    { upstream: 'orders', weight: 9 },
  ]);
  deepEqual(configOf(target('[{ upstream: orders }]')).routes[0]!.targets, [{ upstream: 'orders', weight: 1 }]);
});

test('fields to match are read in either form, names in lower case', () => {
  deepEqual(configOf(withRoute('match: { headers: { X-Tier: gold, x-b: { exact: "1" } } }')).routes[0]!.match.fields, [
    { name: 'x-tier', value: 'gold' },
    { name: 'x-b', value: '1' },
  ]);
});

test('a rewrite is read', () => {
  const rewriteOf = (lines: string): unknown => configOf(withRoute(lines)).routes[0]!.rewrite;
  deepEqual(rewriteOf('match: { path: { prefix: /a } }\nrewrite: { host: upstream, prefix: / }'), {
    host: 'endpoint',
    prefix: '/',
  });
  deepEqual(rewriteOf('rewrite: { host: Shop.Example:8080 }'), {
    host: { name: 'shop.example:8080' },
    prefix: undefined,
  });
});

/** What is written, and every error it gives. */
const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'a target that leads nowhere',
    target('[{ upstream: ordrs }]'),
    ['7:28 routes[0].upstream[0].upstream: no upstream is named "ordrs" (did you mean `orders`?)'],
  ],
  [
    'a target that is there twice',
    target('[{ upstream: orders }, { upstream: orders }]'),
    ['7:50 routes[0].upstream[1].upstream: "orders" is target 0 too (add the weights of the two together)'],
  ],
  [
    'targets without any weight',
    target('[{ upstream: orders, weight: 0 }]'),
    ['7:15 routes[0].upstream: every weight is 0: no request has anywhere to go (give one target at least weight 1)'],
  ],
  [
    'a weight below 0',
    target('[{ upstream: orders, weight: -1 }]'),
    [
      '7:44 routes[0].upstream[0].weight: must be at least 0 (Share of the requests relative to the other targets; 0 gets none.)',
    ],
  ],
  [
    'an empty list of targets',
    target('[]'),
    [
      '7:15 routes[0].upstream: is empty (the name of an upstream, or a list: [{ upstream: orders, weight: 9 }, { upstream: canary, weight: 1 }])',
    ],
  ],
  [
    'a number for an upstream',
    target('5'),
    [
      '7:15 routes[0].upstream: must be a list, not 5 (the name of an upstream, or a list: [{ upstream: orders, weight: 9 }, { upstream: canary, weight: 1 }])',
    ],
  ],
  [
    'a regular expression for a field',
    withRoute('match: { headers: { x-tier: { regex: "(a+)+" } } }'),
    [
      '8:33 routes[0].match.headers.x-tier: regular expressions are not supported (one can take for ever to match: write the exact value)',
    ],
  ],
  [
    'a number for a field value',
    withRoute('match: { headers: { x-version: 2 } }'),
    ["8:36 routes[0].match.headers.x-version: must be text (put it in quotes: '2')"],
  ],
  [
    'a field value that no request can carry',
    withRoute("match: { headers: { x-tier: ' gold' } }"),
    [
      '8:33 routes[0].match.headers.x-tier: can never match: a field value is printable ASCII without spaces around it (give the value as it stands in the request)',
    ],
  ],
  [
    'a field name that is none',
    withRoute('match: { headers: { "x tier": gold } }'),
    ['8:25 routes[0].match.headers["x tier"]: is not a field name (for example x-tier)'],
  ],
  [
    'the Host field',
    withRoute('match: { headers: { Host: a.example } }'),
    ['8:25 routes[0].match.headers.Host: is not matched here (use `hosts`)'],
  ],
  [
    'a field in two cases',
    withRoute('match: { headers: { x-a: b, X-A: c } }'),
    ['8:33 routes[0].match.headers.X-A: is there twice: names have no case (remove one of the two)'],
  ],
  [
    'an empty rewrite',
    withRoute('rewrite: {}'),
    ['8:14 routes[0].rewrite: is empty (for example { host: upstream, prefix: / })'],
  ],
  [
    'a rewritten prefix without a matched one',
    withRoute('match: { path: { exact: /a } }\nrewrite: { prefix: / }'),
    [
      '9:24 routes[0].rewrite.prefix: has no prefix to take the place of (give the route match: { path: { prefix: /… } }; / matches every path)',
    ],
  ],
  [
    'a URL for a rewritten host',
    withRoute('rewrite: { host: http://a.example }'),
    [
      '8:22 routes[0].rewrite.host: is a URL, not a host (write upstream, or a host such as orders.internal or orders.internal:8080)',
    ],
  ],
  [
    'a rewritten prefix that is no path',
    withRoute('match: { path: { prefix: /a } }\nrewrite: { prefix: b }'),
    ['9:24 routes[0].rewrite.prefix: does not begin with / (write /b)'],
  ],
];

for (const [name, text, expected] of rows)
  test(`${name} is told with its place`, () => deepEqual(errorsOf(text), expected));

test('a route with a field to match does not hide the ones behind it', () => {
  const second = '  - { name: b, upstream: orders, match: { path: { prefix: /b } } }\n';
  deepEqual(faultsOf(withRoute('match: { headers: { x-tier: gold } }') + second), []);
  deepEqual(
    faultsOf(
      `${withRoute('match: { headers: { x-tier: gold } }')}  - { name: b, upstream: orders, match: { headers: { X-Tier: { exact: gold }, x-b: c } } }\n`,
    ).map((line) => line.split(':').slice(0, 4).join(':')),
    ['9:5 warning: routes[1]: gets no request'],
  );
});
