import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LintOptions } from '../../src/linter/lint.ts';
import { chain, type DrawnChain, lintText, told } from './support.ts';

const OFF = 'ownership: { mode: off }';
const LEGACY_POST = chain({ names: 'AB', services: { A: 'participation: legacy' } }).replace(
  'B: { operations: { get: {',
  'B: { operations: { get: { method: POST,',
);

test('a chain with one budget, claims and deadlines has no findings', () => {
  assert.deepEqual(told(lintText(chain({ names: 'ABCD' }))), []);
});

/** What is drawn, what is told of it. */
const TABLE: readonly (readonly [string, string | DrawnChain, RegExp, LintOptions?])[] = [
  [
    'hops that all retry',
    { names: 'ABC', settings: OFF },
    /^10:21 warning storm-radius: 2 hops retry the same failure on A\/get -> B\/get -> C\/get; C\/get gets up to 4 requests for one \(with `ownership: { mode: enforce }` it would be 1, and 2 requests for one; .*\)$/,
  ],
  [
    'one legacy service too many',
    { names: 'ABC', services: { B: 'participation: legacy' } },
    /storm-radius: 2 hops .*\(let only the hop next to the failure retry, or make the services .* cooperating\)$/,
  ],
  [
    'a radius beyond the limit that was asked for',
    { names: 'AB' },
    /error storm-radius: 1 hop retries the same failure on A\/get -> B\/get/,
    { maxRadius: 0 },
  ],
  [
    'budgets that multiply',
    { names: 'ABCDE', settings: OFF },
    /error amplification: the budgets on A\/get -> B\/get -> C\/get -> D\/get -> E\/get let through 1\.46 requests for one, for as long as the failure lasts; the limit is 1\.4 \(a budget of 8 % on each hop/,
    { maxAmplification: 1.4 },
  ],
  [
    'a call without a budget',
    { names: 'AB', attempts: 3, calls: { A: 'retryBudget: { kind: none }' } },
    /^7:55 warning no-budget: while B\/get fails, A\/get sends it 4 times its load, for as long as that lasts \(`retryBudget: { percent: 10 }` bounds it to 1\.1 times\)$/m,
  ],
  [
    'layers that all retry',
    {
      names: 'AB',
      attempts: 2,
      calls: {
        A: 'layers: [{ name: sdk, retry: { attempts: 2, codes: [500] } }, { name: mesh, retry: { attempts: 1, codes: [500] } }]',
      },
    },
    /hidden-layers: 3 layers retry this call: A\/get 3 × sdk 3 × mesh 2 = 18 sends of B\/get for one \(let one of them retry/,
  ],
  [
    'a legacy caller that repeats a POST',
    LEGACY_POST,
    /error unsafe-retry: A\/get sends POST B\/get again after it may have run, and its requests have no idempotency key: the work may be done twice \(give its requests an idempotency key/,
  ],
  [
    'a retry of a POST that never happens',
    LEGACY_POST.replace('participation: legacy, ', ''),
    /warning unsafe-retry: a retry of POST B\/get after it may have run is asked for, .* mulligan never makes such a retry/,
  ],
  [
    'a layer that repeats a POST',
    LEGACY_POST.replace(
      '{ to: B }',
      '{ to: B, retry: { attempts: 0 }, layers: [{ name: sdk, retry: { attempts: 1, codes: [503] } }] }',
    ),
    /error unsafe-retry: A~sdk\/B~get sends POST B\/get again after it may have run/,
  ],
  [
    'a caller that gives up before its callee does',
    {
      names: 'ABC',
      settings: 'deadlines: { propagate: false }',
      calls: {
        A: 'timeouts: { request: 3s, backendRequest: 1s }',
        B: 'timeouts: { request: 2500ms, backendRequest: 1s }',
      },
    },
    /timeout-order: A\/get waits 1s for B\/get, which may wait up to 2\.025s, its retries and waits included, for C\/get: it gives up first, .* \(give this call `backendRequest: 2\.035s` or more, with `request: 4\.095s`; or let the call of C\/get have at most `request: 990ms`; or switch `deadlines: { propagate: true }` on\)$/m,
  ],
  [
    'a caller that gives up before a callee that waits for ever',
    {
      names: 'ABC',
      services: { B: 'participation: legacy' },
      calls: { B: 'timeouts: { request: 0s, backendRequest: 0s }' },
    },
    /timeout-order: A\/get waits 1s for B\/get, which may wait without any limit, for C\/get: .* \(let the call of C\/get have at most `request: 990ms`\)/,
  ],
  [
    'a call without a limit of time',
    { names: 'AB', calls: { A: 'timeouts: { request: 0s, backendRequest: 0s }' } },
    /no-timeout: A\/get may wait for B\/get for ever/,
  ],
  [
    'a timeout that leaves no time for its retry',
    { names: 'AB', calls: { A: 'timeouts: { request: 1s, backendRequest: 0s }' } },
    /no-time-to-retry: A\/get retries B\/get after a timeout, but one attempt may take all of its 1s: no retry is ever sent \(`backendRequest: 487ms` leaves each of the 2 attempts its time/,
  ],
];

for (const [name, drawn, expected, options] of TABLE) {
  test(`${name} is told, with what to do`, () => {
    const text = typeof drawn === 'string' ? drawn : chain(drawn);
    assert.match(told(lintText(text, options)).join('\n'), expected);
  });
}

test('the numbers that a finding of timeout-order gives are in order', () => {
  const settings = 'deadlines: { propagate: false }';
  const timeouts = (request: string, backendRequest: string): string =>
    `timeouts: { request: ${request}, backendRequest: ${backendRequest} }`;
  const lower = timeouts('2500ms', '1s');
  const rulesOf = (upper: string, below: string): string[] =>
    lintText(chain({ names: 'ABC', settings, calls: { A: upper, B: below } })).findings.map(({ rule }) => rule);
  assert.ok(rulesOf(timeouts('3s', '1s'), lower).includes('timeout-order'));
  assert.deepEqual(rulesOf(timeouts('4095ms', '2035ms'), lower), []);
  assert.deepEqual(rulesOf(timeouts('3s', '1s'), timeouts('990ms', '400ms')), []);
});

test('the numbers of all findings together are in order, hop by hop', () => {
  const settings = 'deadlines: { propagate: false, margin: 0s }';
  const same = 'timeouts: { request: 2s, backendRequest: 1s }';
  const { findings } = lintText(chain({ names: 'ABCD', settings, calls: { A: same, B: same, C: same } }));
  const numbers = findings.flatMap(({ rule, hint }) => {
    const found = /backendRequest: ([\d.]+m?s)` or more(?:, with `request: ([\d.]+m?s)`)?/.exec(hint);
    return rule === 'timeout-order' && found !== null
      ? [`timeouts: { request: ${found[2]}, backendRequest: ${found[1]} }`]
      : [];
  });
  assert.equal(numbers.length, 2);
  const [a, b] = numbers;
  const text = chain({ names: 'ABCD', settings, calls: { A: a!, B: b!, C: same } });
  assert.deepEqual(told(lintText(text.replace('request: 60s', 'request: 600s'))), []);
});

test('what a POST with a key, or one that retries only what was not sent, does is safe', () => {
  for (const safe of ['keyed: true', 'keyed: false'])
    assert.deepEqual(
      told(
        lintText(
          LEGACY_POST.replace('method: POST,', `method: POST, ${safe},`).replace(
            '{ to: B }',
            safe === 'keyed: true' ? '{ to: B }' : '{ to: B, retry: { attempts: 1, on: [unsent, rejected] } }',
          ),
        ),
      ),
      [],
    );
});

test('one layer that retries alone is no hidden layer', () => {
  const calls = {
    A: 'retry: { attempts: 0 }, layers: [{ name: sdk, retry: { attempts: 2, codes: [503] }, retryBudget: { percent: 10 } }]',
  };
  assert.deepEqual(told(lintText(chain({ names: 'AB', calls }))), []);
});

test('each root has a finding of its own, at its place', () => {
  const text = chain({ names: 'ABC', settings: OFF }).replace('roots: [{', 'roots: [{ operation: B, rate: 1 }, {');
  const { findings } = lintText(text, { maxRadius: 0, ignore: ['amplification'] });
  assert.deepEqual(
    findings.map(({ path, message }) => [path, message.slice(0, 5)]),
    [
      ['workload.roots[0]', '1 hop'],
      ['workload.roots[1]', '2 hop'],
    ],
  );
});

test('findings of a limit that was asked for are marked, and no others', () => {
  const text = chain({ names: 'ABC', settings: OFF, calls: { B: 'retryBudget: { kind: none }' } });
  const marked = (options: LintOptions): string[] =>
    lintText(text, options)
      .findings.filter(({ exceedsLimit }) => exceedsLimit)
      .map(({ rule }) => rule);
  assert.deepEqual(marked({}), []);
  assert.deepEqual(marked({ maxRadius: 1 }), ['storm-radius']);
  assert.deepEqual(marked({ maxRadius: 2 }), []);
  assert.deepEqual(marked({ maxAmplification: 2 }), ['amplification']);
  assert.deepEqual(marked({ maxAmplification: 2.2 }), []);
});
