import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  chunkHead,
  CHUNK_END,
  lastChunk,
  requestHeadText,
  responseHeadText,
  UnsafeHeadError,
  type HeadFraming,
} from '../../src/http1/serializer.ts';
import { readRequests, readResponses } from './read-messages.ts';

const NONE: HeadFraming = { kind: 'none' };
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('request head', () => {
  it('is the request line, the fields in order and the framing', () => {
    assert.equal(
      requestHeadText('GET', '/a', ['Host', 'a', 'X', '1', 'x', '2'], { kind: 'none', connection: 'close' }),
      'GET /a HTTP/1.1\r\nHost: a\r\nX: 1\r\nx: 2\r\nConnection: close\r\n\r\n',
    );
    assert.equal(
      requestHeadText('POST', '/', ['Host', 'a'], { kind: 'length', length: 5, connection: 'keep-alive' }),
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n',
    );
    assert.equal(
      requestHeadText('PUT', '/', ['Host', 'a'], { kind: 'chunked' }),
      'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
  });

  it('says length 0 for an absent body where one is usual, and only there', () => {
    for (const method of ['POST', 'PUT', 'PATCH'])
      assert.match(requestHeadText(method, '/', ['Host', 'a'], NONE), /\r\nContent-Length: 0\r\n/);
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS'])
      assert.doesNotMatch(requestHeadText(method, '/', ['Host', 'a'], NONE), /Content-Length/);
  });

  it('never takes framing from the fields', () => {
    const fields = ['Host', 'a', 'Content-Length', '9', 'TRANSFER-ENCODING', 'chunked', 'connection', 'x'];
    assert.equal(requestHeadText('DELETE', '/', fields, NONE), 'DELETE / HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal(
      requestHeadText('DELETE', '/', fields, { kind: 'length', length: 3 }),
      'DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n',
    );
  });

  it('needs exactly one Host', () => {
    assert.throws(() => requestHeadText('GET', '/', [], NONE), UnsafeHeadError);
    assert.throws(
      () => requestHeadText('GET', '/', ['Host', 'a', 'host', 'a'], NONE),
      /exactly one Host field; this one has 2/,
    );
  });

  it('cannot be delimited by the close or by a bad length', () => {
    assert.throws(() => requestHeadText('POST', '/', ['Host', 'a'], { kind: 'until-close' }), UnsafeHeadError);
    for (const length of [undefined, -1, 1.5, Number.NaN, 2 ** 53]) {
      assert.throws(() => requestHeadText('POST', '/', ['Host', 'a'], { kind: 'length', length }), UnsafeHeadError);
    }
  });

  it('refuses methods and targets that would split the request line', () => {
    for (const method of ['', 'G T', 'GET\r\n', 'GET\0', 'G\u0141T'])
      assert.throws(() => requestHeadText(method, '/', ['Host', 'a'], NONE), UnsafeHeadError);
    for (const target of ['', '/ x', '/\r\nX: y', '/#x', '/\x80', '/\u010d\u010a'])
      assert.throws(() => requestHeadText('GET', target, ['Host', 'a'], NONE), UnsafeHeadError);
  });
});

describe('response head', () => {
  it('is the status line, the fields in order and the framing', () => {
    assert.equal(
      responseHeadText(200, 'OK', ['A', '1', 'Set-Cookie', 'a', 'Set-Cookie', 'b'], { kind: 'length', length: 0 }),
      'HTTP/1.1 200 OK\r\nA: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n',
    );
    assert.equal(
      responseHeadText(200, '', [], { kind: 'chunked', connection: 'close' }),
      'HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
    );
  });

  it('closes after a body that the close delimits, whatever it was told', () => {
    assert.equal(
      responseHeadText(200, 'OK', [], { kind: 'until-close', connection: 'keep-alive' }),
      'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n',
    );
  });

  it('declares the length that HEAD and 304 stand for, never one on 1xx and 204', () => {
    assert.match(responseHeadText(200, 'OK', [], { kind: 'none', length: 1234 }), /Content-Length: 1234\r\n/);
    assert.match(responseHeadText(304, 'x', [], { kind: 'none', length: 1234 }), /Content-Length: 1234\r\n/);
    assert.doesNotMatch(responseHeadText(200, 'OK', [], { kind: 'none', length: -1 }), /Content-Length/);
    assert.doesNotMatch(
      responseHeadText(204, 'x', ['Content-Length', '5'], { kind: 'none', length: 5 }),
      /Content-Length/,
    );
    assert.doesNotMatch(responseHeadText(103, 'x', [], { kind: 'none', length: 0 }), /Content-Length/);
  });

  it('never announces a body where none may follow', () => {
    for (const status of [100, 103, 204, 304]) {
      for (const kind of ['length', 'chunked', 'until-close'] as const) {
        assert.throws(() => responseHeadText(status, 'x', [], { kind, length: 1 }), /cannot have a body/);
      }
    }
  });

  it('writes an upgrade when told so', () => {
    assert.equal(
      responseHeadText(101, 'Switching Protocols', ['Upgrade', 'websocket', 'Connection', 'close'], {
        kind: 'none',
        connection: 'upgrade',
      }),
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
    );
  });

  it('refuses impossible statuses and hostile reasons', () => {
    for (const status of [99, 600, 200.5, Number.NaN, -200])
      assert.throws(() => responseHeadText(status, '', [], NONE), UnsafeHeadError);
    for (const reason of ['a\r\nX: y', '\0', '\u010d\u010a'])
      assert.throws(() => responseHeadText(200, reason, [], NONE), UnsafeHeadError);
  });
});

describe('fields', () => {
  it('refuses names and values that would end a line or a name, and says which', () => {
    for (const name of ['', 'a b', 'a:', 'a\r\n', 'a\0', 'a\x80', 'a\u0130', 'a\t'])
      assert.throws(() => responseHeadText(200, '', [name, 'x'], NONE), /field name/);
    for (const value of ['a\r\nb: c', '\r', '\n', '\0', '\x01', '\x7f', '\u010d\u010a', '\u2028']) {
      assert.throws(() => responseHeadText(200, '', ['X-Name', value], NONE), {
        code: 'UNSAFE_HEAD',
        message: /value of the field X-Name/,
      });
    }
  });

  it('refuses a name without a value', () => {
    assert.throws(() => responseHeadText(200, '', ['X'], NONE), UnsafeHeadError);
  });
});

describe('chunks', () => {
  it('are framed so that the same body is read', () => {
    const head = responseHeadText(200, 'OK', [], { kind: 'chunked' });
    const body = ['a', 'b'.repeat(17)].map((part) => chunkHead(part.length) + part + CHUNK_END).join('');
    const reading = readResponses(bytesOf(head + body + lastChunk(['X-Sum', 'abc'])), 'GET');
    assert.deepEqual(
      [reading.messages[0]!.body, reading.messages[0]!.trailers],
      [`a${'b'.repeat(17)}`, ['X-Sum', 'abc']],
    );
  });

  it('are never empty but for the last', () => {
    assert.equal(chunkHead(255), 'ff\r\n');
    for (const length of [0, -1, 1.5, Number.NaN]) assert.throws(() => chunkHead(length), UnsafeHeadError);
    assert.equal(lastChunk(), '0\r\n\r\n');
    assert.equal(lastChunk(['Content-Length', '5']), '0\r\n\r\n');
    assert.throws(() => lastChunk(['X', 'a\r\n\r\nHTTP/1.1 200 OK']), UnsafeHeadError);
  });
});

describe('what is written', () => {
  // Mostly writable characters with a share of those that split messages, also after the cut to one byte.
  const hostileChar = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...'aZ09-_:; ,="/') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '\r',
        '\n',
        '\0',
        '\t',
        '\x7f',
        '\x80',
        '\xff',
        '\u010d',
        '\u010a',
        '\u0100',
        '\r\n',
        '\r\n\r\n',
        '\u{1f600}',
      ),
    },
  );
  const hostileText = fc.array(hostileChar, { maxLength: 8 }).map((chars) => chars.join(''));
  const name = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('X', 'Accept', 'x-y', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Trailer'),
    },
    { weight: 1, arbitrary: hostileText },
  );
  const fieldLists = fc.array(fc.tuple(name, hostileText), { maxLength: 4 });
  const framings = fc.constantFrom<HeadFraming>(NONE, { kind: 'length', length: 3 }, { kind: 'chunked' });
  const bodyFor: Record<string, string> = {
    none: '',
    length: 'abc',
    chunked: `${chunkHead(3)}abc${CHUNK_END}${lastChunk()}`,
  };
  const isFraming = (fieldName: string): boolean =>
    ['content-length', 'transfer-encoding', 'connection'].includes(fieldName.toLowerCase());
  const expectedFields = (pairs: readonly (readonly [string, string])[]): string[] =>
    pairs
      .filter(([fieldName]) => !isFraming(fieldName))
      .flatMap(([fieldName, value]) => [fieldName, value.replace(/^[ \t]+|[ \t]+$/g, '')]);

  function writeOrRefuse(write: () => string): string | undefined {
    try {
      return write();
    } catch (error) {
      assert.ok(error instanceof UnsafeHeadError);
      return undefined;
    }
  }

  it('reads back as the same one request, or is refused', () => {
    let writtenCount = 0;
    fc.assert(
      fc.property(
        fieldLists,
        framings,
        fc.constantFrom('GET', 'POST', 'DELETE'),
        fc.oneof(fc.constant(''), hostileText),
        (pairs, framing, method, path) => {
          const text = writeOrRefuse(() =>
            requestHeadText(method, `/${path}`, ['Host', 'a', ...pairs.flat()], framing),
          );
          if (text === undefined) return;
          writtenCount++;
          const reading = readRequests(bytesOf(text + bodyFor[framing.kind]!));
          assert.equal(reading.faultCode, '');
          assert.equal(reading.messages.length, 1);
          const [message] = reading.messages;
          assert.equal(message!.start, `${method} /${path} 1`);
          assert.equal(message!.complete, true);
          assert.equal(message!.body, framing.kind === 'none' ? '' : 'abc');
          const ownCount = framing.kind === 'none' && method !== 'POST' ? 0 : 2;
          assert.deepEqual(message!.fields.slice(2, message!.fields.length - ownCount), expectedFields(pairs));
        },
      ),
      { numRuns: 5000, seed: 7 },
    );
    assert.ok(writtenCount > 1000, `only ${writtenCount} were written`);
  });

  it('reads back as the same one response, or is refused', () => {
    let writtenCount = 0;
    fc.assert(
      fc.property(
        fieldLists,
        framings,
        fc.integer({ min: 200, max: 599 }),
        hostileText,
        (pairs, framing, status, reason) => {
          const text = writeOrRefuse(() => responseHeadText(status, reason, pairs.flat(), framing));
          if (text === undefined) return;
          writtenCount++;
          const requestMethod = framing.kind === 'none' ? 'HEAD' : 'GET';
          const reading = readResponses(bytesOf(text + bodyFor[framing.kind]!), requestMethod);
          assert.equal(reading.faultCode, '');
          assert.equal(reading.messages.length, 1);
          const [message] = reading.messages;
          assert.equal(message!.start, `${status} ${reason} 1`);
          assert.equal(message!.body, framing.kind === 'none' ? '' : 'abc');
          const ownCount = framing.kind === 'none' ? 0 : 2;
          assert.deepEqual(message!.fields.slice(0, message!.fields.length - ownCount), expectedFields(pairs));
        },
      ),
      { numRuns: 5000, seed: 8 },
    );
    assert.ok(writtenCount > 1000, `only ${writtenCount} were written`);
  });
});
