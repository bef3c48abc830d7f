import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { lint } from '../../src/linter/lint.ts';
import { readSource } from '../../src/simulator/read-source.ts';
import { type DrawnSpan, otlp } from '../simulator/traces/support.ts';
import { sourceOf, told } from './support.ts';

const examples = globSync('examples/topologies/*.yaml').sort();

test('the examples are found', () => {
  assert.equal(examples.length, 5);
});

for (const example of examples) {
  test(`${example} has a radius of 1, and no findings`, () => {
    const reading = readSource(readFileSync(example, 'utf8'), example);
    assert.ok(reading.ok);
    const report = lint(reading.source);
    assert.deepEqual(told(report), []);
    assert.ok(
      report.roots.every(({ now, withoutOwnership }) => now.radius <= 1 && withoutOwnership.radius >= now.radius),
    );
  });
}

const GATEWAY = `listeners: [{ address: 127.0.0.1:0 }]
upstreams:
  orders: { endpoints: [127.0.0.1:1], retryBudget: { kind: none } }
routes:
  - { match: { methods: [POST] }, upstream: orders, retry: { attempts: 2, codes: [503] }, timeouts: { request: 0s } }
`;

test('a gateway file is told about with the place of its routes', () => {
  const report = lint(sourceOf(GATEWAY));
  assert.deepEqual(
    report.findings.map(({ rule, line, path }) => [rule, line, path]),
    [
      ['no-budget', 5, 'routes[0].retry'],
      ['no-timeout', 5, 'routes[0].retry'],
    ],
  );
  assert.deepEqual(
    report.roots.map(({ operation, now }) => [operation, now.radius]),
    [['gateway/route-1', 1]],
  );
});

const bank = (id: string, parent: string, fromMs: number): DrawnSpan => ({
  id,
  parent,
  service: 'b',
  name: 'POST',
  kind: 'client',
  method: 'POST',
  peer: 'bank',
  fromMs,
  toMs: fromMs + 5,
  status: 503,
});

/** What `a` sends once: `b` tries its bank twice. */
const pay = (id: string, fromMs: number): readonly DrawnSpan[] => [
  { id, parent: '1', service: 'a', name: 'get', kind: 'client', fromMs, toMs: fromMs + 30, status: 502 },
  { id: `${id}b`, parent: id, service: 'b', name: 'pay', method: 'POST', fromMs, toMs: fromMs + 29, status: 502 },
  bank(`${id}c`, `${id}b`, fromMs + 10),
  bank(`${id}d`, `${id}b`, fromMs + 20),
];

/** A request through three services; the two upper ones try twice. */
const SPANS: readonly DrawnSpan[] = [
  { id: '1', service: 'a', name: 'get', method: 'GET', fromMs: 0, toMs: 100, status: 502 },
  ...pay('2', 10),
  ...pay('3', 50),
];

test('traces are told about by the retries that are in them', () => {
  const report = lint(sourceOf(JSON.stringify(otlp(SPANS))));
  const [root] = report.roots;
  assert.deepEqual([root!.operation, root!.now.amplification], ['a/get', 2]);
  assert.deepEqual(
    report.findings.map(({ rule, severity }) => `${severity} ${rule}`),
    ['warning unsafe-retry', 'warning unsafe-retry'],
  );
  assert.match(
    report.findings[0]!.message,
    /POST b\/pay was sent again in the traces, and they show no idempotency key/,
  );
  assert.ok(report.findings.every(({ path }) => path.startsWith('resourceSpans[')));
  assert.ok(report.assumptions.length >= 4);
});
