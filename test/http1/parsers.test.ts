import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { difference, readWithOurs, type Wire } from './differential.ts';
import type { Reading } from './read-messages.ts';
import { ACCEPTED_REQUESTS, REFUSED_REQUESTS } from './request-fixtures.ts';
import { ACCEPTED_RESPONSES, REFUSED_RESPONSES } from './response-fixtures.ts';

const requestWire = (text: string): Wire => ({
  kind: 'request',
  bytes: Buffer.from(text, 'latin1'),
  requestMethod: '',
});
const responseWire = (text: string): Wire => ({
  kind: 'response',
  bytes: Buffer.from(text, 'latin1'),
  requestMethod: 'GET',
});

function summaries(reading: Reading): string[] {
  return reading.messages.map(({ start, fields, body, trailers, keepAlive }) =>
    [start, fields, body, trailers, keepAlive].join('|'),
  );
}

for (const [kind, wireOf, accepted, refused] of [
  ['request', requestWire, ACCEPTED_REQUESTS, REFUSED_REQUESTS],
  ['response', responseWire, ACCEPTED_RESPONSES, REFUSED_RESPONSES],
] as const) {
  describe(`the ${kind} parser reads`, () => {
    for (const { why, text, reads } of accepted) {
      it(why, () => {
        const wire = wireOf(text);
        const reading = readWithOurs(wire, []);
        assert.equal(reading.faultCode, '');
        assert.deepEqual(summaries(reading), reads);
        assert.ok(reading.messages.every((message) => message.complete || message.start.startsWith('101')));
        assert.equal(difference(wire, []), undefined);
      });
    }
  });

  describe(`the ${kind} parser refuses`, () => {
    for (const { why, text, code, status } of refused) {
      it(`${why} (${code})`, () => {
        const reading = readWithOurs(wireOf(text), []);
        assert.equal(reading.faultCode, code);
        assert.equal(reading.faultStatus, status);
        assert.ok(reading.messages.every((message) => !message.complete || message.start.startsWith('10')));
      });
    }
  });

  describe(`the ${kind} parser's events do not depend on the cuts`, () => {
    for (const { why, text } of [...accepted, ...refused]) {
      it(why, () => {
        const wire = wireOf(text);
        const whole = readWithOurs(wire, []);
        const { length } = wire.bytes;
        // Every byte of small inputs, of large ones the ends and a few hundred places between.
        const step = Math.max(1, Math.floor(length / 400));
        for (let cut = 1; cut < length; cut += cut < 200 || cut > length - 200 ? 1 : step) {
          assert.deepEqual(readWithOurs(wire, [cut]), whole, `cut at ${cut}`);
        }
        const everywhere = Array.from({ length }, (_, at) => at);
        assert.deepEqual(readWithOurs(wire, everywhere), whole, 'byte by byte');
      });
    }
  });

  it(`the ${kind} parser reads nothing from a beginning but what the whole says`, () => {
    for (const { text } of accepted) {
      const whole = readWithOurs(wireOf(text), []);
      for (let length = 0; length < Math.min(text.length, 2000); length++) {
        const part = readWithOurs(wireOf(text.slice(0, length)), []);
        assert.equal(part.faultCode, '', JSON.stringify(text.slice(0, length)));
        for (const [index, message] of part.messages.entries()) {
          assert.equal(message.start, whole.messages[index]?.start);
          assert.ok(whole.messages[index]?.body.startsWith(message.body));
        }
      }
    }
  });
}
