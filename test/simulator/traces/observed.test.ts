import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from '../../../src/simulator/simulation.ts';
import { drawn, type DrawnSpan, otlp, sourceOf } from './support.ts';

/** So many requests, a trace each, a second apart. */
function requests(count: number, spansOf: (index: number) => readonly DrawnSpan[]): DrawnSpan[] {
  return Array.from({ length: count }, (_, index) => spansOf(index).map((span) => moved(span, index))).flat();
}

function moved(span: DrawnSpan, index: number): DrawnSpan {
  const laterMs = index * 1000;
  return { ...span, trace: `t${index}`, fromMs: span.fromMs + laterMs, toMs: span.toMs + laterMs };
}

const server = (
  id: string,
  service: string,
  fromMs: number,
  toMs: number,
  more: Partial<DrawnSpan> = {},
): DrawnSpan => ({
  id,
  service,
  name: 'get',
  fromMs,
  toMs,
  ...more,
});

const client = (id: string, fromMs: number, toMs: number, more: Partial<DrawnSpan> = {}): DrawnSpan => ({
  ...server(id, 'a', fromMs, toMs, more),
  kind: 'client',
  parent: more.parent ?? 'root',
});

test('the same call behind one that failed is a retry, also where no client counts its sends', () => {
  const source = sourceOf(
    otlp([
      server('root', 'a', 0, 100),
      client('1', 10, 20, { status: 503, peer: 'b' }),
      client('2', 30, 40, { status: 503, peer: 'b' }),
      client('3', 50, 60, { status: 200, peer: 'b' }),
    ]),
  );
  assert.deepEqual(drawn(source), ['a/get -> b/get retries=2']);
  assert.ok(source.topology.calls[0]!.policy.codes.has(503));
});

test('the same call behind one that went well is another call', () => {
  const source = sourceOf(
    otlp([server('root', 'a', 0, 100), client('1', 10, 20, { peer: 'b' }), client('2', 30, 40, { peer: 'b' })]),
  );
  assert.deepEqual(drawn(source), ['a/get -> b/get']);
  assert.deepEqual(source.topology.operations[0]!.steps, [[0], [0]]);
});

test('calls that a client counts as first sends are no retries, whatever failed before', () => {
  const source = sourceOf(
    otlp([
      server('root', 'a', 0, 100),
      client('1', 10, 20, { status: 503, peer: 'b', resendCount: 0 }),
      client('2', 30, 40, { peer: 'b', resendCount: 0 }),
    ]),
  );
  assert.deepEqual(drawn(source), ['a/get -> b/get']);
});

test('a resend that goes to another server belongs to the call before it', () => {
  const source = sourceOf(
    otlp([
      server('root', 'a', 0, 100),
      client('1', 10, 20, { status: 503, peer: '10.0.0.1' }),
      client('2', 30, 40, { peer: '10.0.0.2', resendCount: 1 }),
    ]),
  );
  assert.deepEqual(drawn(source), ['a/get -> 10.0.0.1/get retries=1']);
});

test('a service that numbers its resends once is believed to do so always', () => {
  const source = sourceOf(
    otlp(
      requests(2, (index) => [
        server('root', 'a', 0, 100),
        client('1', 10, 20, { status: 503, peer: 'b' }),
        client('2', 30, 40, { peer: 'b', ...(index === 0 ? { resendCount: 1 } : {}) }),
      ]),
    ),
  );
  const [call] = source.topology.operations[0]!.steps;
  assert.deepEqual(drawn(source), ['a/get -> b/get retries=1']);
  // Three calls in two requests, one of them tried twice.
  assert.equal(call!.length, 1);
  assert.match(source.assumptions[0]!, /with 1 retries in them/);
});

test("a client's span around those of its attempts is not a call of its own", () => {
  const source = sourceOf(
    otlp([
      server('root', 'a', 0, 100),
      client('outer', 5, 70, { peer: 'b' }),
      client('1', 10, 20, { parent: 'outer', status: 500, peer: 'b' }),
      client('2', 30, 40, { parent: 'outer', peer: 'b' }),
    ]),
  );
  assert.deepEqual(drawn(source), ['a/get -> b/get retries=1']);
});

test('one send that arrives twice is a layer between the two that retries', () => {
  const source = sourceOf(
    otlp([
      server('root', 'a', 0, 100),
      client('1', 10, 60),
      server('2', 'b', 12, 20, { parent: '1', status: 503 }),
      server('3', 'b', 30, 40, { parent: '1' }),
    ]),
  );
  assert.deepEqual(drawn(source), ['a~between/b~get -> b/get retries=1', 'a/get -> a~between/b~get']);
});

test('how often, in which order and at the same time calls are made is as in the traces', () => {
  const source = sourceOf(
    otlp(
      requests(10, (index) => [
        server('root', 'a', 0, 100),
        client('1', 10, 40, { name: 'one', peer: 'b' }),
        client('2', 12, 30, { name: 'two', peer: 'c' }),
        ...(index < 3 ? [client('3', 50, 60, { name: 'three', peer: 'd' })] : []),
      ]),
    ),
  );
  assert.deepEqual(drawn(source), ['a/get -> b/one', 'a/get -> c/two', 'a/get -> d/three p=0.3']);
  assert.deepEqual(source.topology.operations[0]!.steps, [[0, 1], [2]]);
  const [root] = source.topology.roots;
  // Ten in nine seconds and a bit.
  assert.ok(Math.abs(root!.ratePerSecond - 10 / 9.1) < 1e-6, String(root!.ratePerSecond));
});

test('an error belongs to the operation that no failed call explains', () => {
  const source = sourceOf(
    otlp(
      requests(4, (index) => [
        server('root', 'a', 0, 100, { status: index === 0 ? 502 : 200 }),
        client('1', 10, 40, { peer: 'b', status: index === 0 ? 500 : 200 }),
      ]),
    ),
  );
  assert.deepEqual(
    source.topology.operations.map(({ name, errorRatio }) => [name, errorRatio]),
    [
      ['a/get', 0],
      ['b/get', 0.25],
    ],
  );
});

test('a call whose failures its caller survives is one it does without', () => {
  const spans = requests(20, (index) => [
    server('root', 'a', 0, 100, { status: 200 }),
    client('1', 10, 40, { peer: 'b', status: index < 6 ? 500 : 200 }),
  ]);
  assert.deepEqual(drawn(sourceOf(otlp(spans))), ['a/get -> b/get fail-open']);
});

test('what a client got as 404 is not a failure', () => {
  const source = sourceOf(otlp([server('root', 'a', 0, 100), client('1', 10, 40, { peer: 'b', status: 404 })]));
  assert.equal(source.topology.operations[1]!.errorRatio, 0);
});

test('a consumer of messages is called by nobody, and its producer waits for nobody', () => {
  const source = sourceOf(
    otlp([
      server('root', 'a', 0, 100),
      { ...server('1', 'a', 10, 20, { parent: 'root' }), kind: 'producer' },
      { ...server('2', 'b', 500, 600, { parent: '1' }), kind: 'consumer' },
      { ...server('3', 'b', 510, 520, { parent: '2', peer: 'db' }), kind: 'client' },
    ]),
  );
  assert.deepEqual(drawn(source), ['b/get -> db/get']);
  assert.equal(source.topology.roots.length, 2);
});

test('spans whose parent is missing count as requests from outside, which is said', () => {
  const source = sourceOf(otlp([server('x', 'a', 0, 10, { parent: 'lost' })]));
  assert.equal(source.topology.roots.length, 1);
  assert.match(source.assumptions.join('\n'), /1 spans have a parent that is not in the file/);
});

test('spans that are each other’s parents are left out, which is said', () => {
  const source = sourceOf(
    otlp([server('1', 'a', 0, 10), server('2', 'b', 0, 10, { parent: '3' }), server('3', 'b', 0, 10, { parent: '2' })]),
  );
  assert.equal(source.topology.operations.length, 1);
  assert.match(source.assumptions.join('\n'), /2 spans are below each other in a circle, and left out/);
});

test('steps that are nested ten thousand deep are read', () => {
  const steps = Array.from({ length: 10_000 }, (_, index) => ({
    ...server(`${index + 1}`, 'a', 0, 10, { parent: `${index}` }),
    kind: 'internal' as const,
  }));
  const last = client('call', 2, 5, { parent: '10000', peer: 'b' });
  assert.deepEqual(drawn(sourceOf(otlp([server('0', 'a', 0, 10), ...steps, last]))), ['a/get -> b/get']);
});

test('a call that closes a circle is left out with a warning', () => {
  const source = sourceOf(
    otlp([
      server('1', 'a', 0, 100),
      server('2', 'b', 10, 90, { parent: '1' }),
      server('3', 'a', 20, 80, { parent: '2' }),
    ]),
  );
  assert.deepEqual(drawn(source), ['a/get -> b/get p=0.5']);
  assert.match(source.warnings[0]!.message, /closes the circle a\/get -> b\/get -> a\/get is left out/);
  assert.equal(source.warnings[0]!.severity, 'warning');
});

test('paths with ids are one operation', () => {
  const source = sourceOf(
    otlp(requests(3, (index) => [server('root', 'a', 0, 10, { name: `GET /users/${index + 17}/orders?page=2` })])),
  );
  assert.deepEqual(
    source.topology.operations.map(({ name }) => name),
    ['a/GET-users-id-orders'],
  );
});

test('what was read runs, with the retries that were seen', () => {
  const { topology } = sourceOf(
    otlp(
      requests(40, (index) => [
        server('root', 'a', 0, 100),
        client('1', 10, 20, { peer: 'b', status: index % 4 === 0 ? 503 : 200 }),
        ...(index % 4 === 0 ? [client('2', 30, 40, { peer: 'b', status: 200 })] : []),
      ]),
    ),
  );
  const result = simulate(topology, { durationMs: 1_000_000, mode: 'retries' });
  const load = result.nodes.find(({ operation }) => operation === 'b/get')!.load;
  // One in five of the attempts failed (10 of 50), so that a fifth of the requests is sent again.
  assert.ok(Math.abs(load - 1.2) < 0.05, String(load));
});
