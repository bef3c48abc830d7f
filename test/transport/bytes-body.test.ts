import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesBody, emptyBody } from '../../src/transport/body/bytes-body.ts';
import type { BodyReader, RequestBody } from '../../src/transport/body/request-body.ts';

function readAll(body: RequestBody): { text: string; ended: boolean } {
  const read = { text: '', ended: false };
  const reader: BodyReader = {
    onChunk(chunk) {
      read.text += chunk.toString('utf8');
      return true;
    },
    onEnd() {
      read.ended = true;
    },
    onError() {},
  };
  body.open(reader);
  return read;
}

test('text goes out as UTF-8 with its length in bytes, as often as it is opened', () => {
  const body = bytesBody('grün');
  assert.equal(body.contentLength, 5);
  assert.deepEqual(readAll(body), { text: 'grün', ended: true });
  assert.deepEqual(readAll(body), { text: 'grün', ended: true });
});

test('an empty body ends at once and declares length 0', () => {
  const body = emptyBody();
  assert.equal(body.contentLength, 0);
  assert.deepEqual(readAll(body), { text: '', ended: true });
});

test('a reader that wants no more gets the rest after it resumes, and nothing after it closed', () => {
  const body = bytesBody(Buffer.alloc(200_000, 'x'));
  let bytes = 0;
  let ended = false;
  const cursor = body.open({
    onChunk(chunk) {
      bytes += chunk.length;
      return false;
    },
    onEnd() {
      ended = true;
    },
    onError() {},
  });
  assert.equal(bytes, 65_536);
  cursor.resume();
  assert.equal(bytes, 131_072);
  cursor.close();
  cursor.resume();
  assert.equal(bytes, 131_072);
  assert.equal(ended, false);
  assert.equal(readAll(body).text.length, 200_000);
});

test('a destroyed body is not replayable', () => {
  const body = bytesBody('x');
  body.destroy();
  assert.equal(body.replayable, false);
  assert.throws(() => body.open({ onChunk: () => true, onEnd() {}, onError() {} }), /destroyed/);
});

test('a copy is read beside the body, and there is none of a destroyed one', () => {
  const body = bytesBody('one');
  const copy = body.copy();
  body.open({ onChunk: () => false, onEnd() {}, onError() {} });
  assert.deepEqual(readAll(copy!), { text: 'one', ended: true });
  body.destroy();
  assert.equal(body.copy(), undefined);
});
