import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMessageReader, type Framing } from './message-reader.ts';

interface Seen {
  readonly events: string[];
  readonly body: string;
}

function readInPieces(bytes: string, pieceBytes: number, framing: Framing): Seen {
  const events: string[] = [];
  let body = '';
  const reader = createMessageReader({
    begin: () => events.push('begin'),
    head: (line, fields) => (events.push(`head ${line} ${fields.join()}`), framing),
    body: (chunk) => (body += chunk.toString('latin1')),
    complete: (trailers) => events.push(`complete ${trailers.join()}`),
    fault: (message) => events.push(`fault ${message}`),
  });
  const all = Buffer.from(bytes, 'latin1');
  for (let at = 0; at < all.length; at += pieceBytes) reader.push(all.subarray(at, at + pieceBytes));
  return { events, body };
}

for (const pieceBytes of [1, 2, 3, 7, 1000]) {
  test(`messages arrive whole in pieces of ${pieceBytes}`, () => {
    const one = 'GET / HTTP/1.1\r\nA: b\r\nC:  d \r\n\r\n5;x=y\r\nhello\r\n0\r\nT: u\r\n\r\n';
    const seen = readInPieces(one + one, pieceBytes, { kind: 'chunked' });
    const events = ['begin', 'head GET / HTTP/1.1 A,b,C,d', 'complete T,u'];
    assert.deepEqual(seen.events, [...events, ...events]);
    assert.equal(seen.body, 'hellohello');
  });
}

test('a chunked body without trailers completes on its last byte', () => {
  const seen = readInPieces('X\r\n\r\n0\r\n\r\n', 1, { kind: 'chunked' });
  assert.deepEqual(seen.events, ['begin', 'head X ', 'complete ']);
});

for (const [what, bytes] of [
  ['a bad chunk size', 'X\r\n\r\nz\r\n'],
  ['a chunk longer than its size', 'X\r\n\r\n1\r\nabc\r\n'],
  ['a folded field', 'X\r\nA: b\r\n c\r\n\r\n'],
  ['a bare LF in a field', 'X\r\nA: b\nC: d\r\n\r\n'],
] as const) {
  test(`${what} is a fault, and nothing is read after it`, () => {
    const { events } = readInPieces(`${bytes}X\r\n\r\n`, 1000, { kind: 'chunked' });
    assert.match(events.at(-1)!, /^fault/);
    assert.equal(events.filter((event) => event === 'begin').length, 1);
  });
}
