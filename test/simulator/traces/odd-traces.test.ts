import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lint } from '../../../src/linter/lint.ts';
import { readSource } from '../../../src/simulator/read-source.ts';
import { simulate } from '../../../src/simulator/simulation.ts';
import { jaeger, otlp, zipkin } from './support.ts';

const SPAN = fc.record(
  {
    id: fc.constantFrom('1', '2', '3', '4', '5', '6'),
    parent: fc.constantFrom('1', '2', '3', '4', '9'),
    service: fc.constantFrom('a', 'b', 'c', '__proto__', 'ü/~ x'),
    name: fc.constantFrom('get', 'POST /x/17', '', '?', 'constructor'),
    kind: fc.constantFrom('server', 'client', 'internal', 'producer', 'consumer'),
    fromMs: fc.nat(50),
    toMs: fc.nat(60),
    status: fc.constantFrom(0, 200, 404, 503, 999),
    method: fc.constantFrom('GET', 'POST', 'brew'),
    resendCount: fc.constantFrom(0, 1, 7, 1e9),
    peer: fc.constantFrom('db', ''),
    trace: fc.constantFrom('t1', 't2'),
  },
  { requiredKeys: ['id', 'service', 'name', 'fromMs', 'toMs'] },
);

for (const [format, write] of [
  ['otlp', otlp],
  ['jaeger', jaeger],
  ['zipkin', zipkin],
] as const) {
  test(`whatever spans there are in ${format}, they are refused in words, or can be told about and run`, () => {
    fc.assert(
      fc.property(fc.array(SPAN, { maxLength: 14 }), (spans) => {
        const reading = readSource(JSON.stringify(write(spans)), 't.json', format);
        if (!reading.ok) return assert.ok(reading.faults.length > 0);
        const { topology } = reading.source;
        assert.ok(topology.roots.length > 0 && topology.roots.length <= spans.length);
        lint(reading.source);
        for (const index of topology.calls.keys()) assert.ok(reading.source.placeOfCall(index).line >= 1);
        simulate(topology, { durationMs: 20 });
      }),
      { numRuns: 200 },
    );
  });

  test(`whatever JSON stands in ${format}, reading it does not throw`, () => {
    const text = JSON.stringify(write([{ id: '1', service: 'a', name: 'get', fromMs: 0, toMs: 5 }]));
    const values = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?!:)|\d+/g)];
    fc.assert(
      fc.property(fc.nat(values.length - 1), fc.json({ maxDepth: 2 }), (which, json) => {
        const { index, 0: old } = values[which]!;
        const changed = text.slice(0, index) + json + text.slice(index + old.length);
        const reading = readSource(changed, 't.json');
        assert.ok(reading.ok || reading.faults.every(({ message, line }) => message !== '' && line >= 1));
      }),
      { numRuns: 300 },
    );
  });
}
