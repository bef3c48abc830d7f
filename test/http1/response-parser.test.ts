import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ParserLimits, ResponseHead } from '../../src/http1/message.ts';
import { createResponseParser, type ResponseParser } from '../../src/http1/response-parser.ts';

interface Recorded {
  readonly parser: ResponseParser;
  readonly heads: ResponseHead[];
  readonly events: string[];
  readonly chunks: Buffer[];
  give(text: string): number;
}

function recordingParser(limits: Partial<ParserLimits> = {}): Recorded {
  const heads: ResponseHead[] = [];
  const events: string[] = [];
  const chunks: Buffer[] = [];
  const parser = createResponseParser(
    {
      onInformational: (head) => events.push(`informational ${head.status}`),
      onHead: (head) => {
        heads.push(head);
        events.push(`head ${head.status}`);
      },
      onData: (chunk) => {
        chunks.push(chunk);
        events.push(`data ${chunk.length}`);
      },
      onComplete: (trailers) => events.push(`complete ${trailers.join()}`),
      onFault: (fault) => events.push(`fault ${fault.code}`),
    },
    limits,
  );
  return { parser, heads, events, chunks, give: (text) => parser.execute(Buffer.from(text, 'latin1')) };
}

function headOf(text: string, requestMethod = 'GET'): ResponseHead {
  const { parser, heads, give } = recordingParser();
  parser.expect(requestMethod);
  give(text);
  assert.equal(heads.length, 1);
  return heads[0]!;
}

describe('response parser', () => {
  it('takes nothing when no response is expected', () => {
    const { parser, events, give } = recordingParser();
    assert.equal(give('HTTP/1.1 200 OK\r\n\r\n'), 0);
    assert.deepEqual(events, []);
    assert.equal(parser.headStarted, false);
  });

  it('stops behind the final response and leaves unsolicited bytes', () => {
    const { parser, events, give } = recordingParser();
    parser.expect('GET');
    assert.equal(give('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n\r\n'), 40);
    assert.deepEqual(events, ['head 200', 'data 2', 'complete ']);
    assert.equal(parser.complete, true);
    assert.equal(give('x'), 0);
  });

  it('stops behind the final response even when the handler expects the next one at once', () => {
    let completeCount = 0;
    const parser = createResponseParser({
      onInformational: () => {},
      onHead: () => {},
      onData: () => {},
      onComplete: () => {
        completeCount++;
        parser.expect('GET');
      },
      onFault: () => assert.fail(),
    });
    parser.expect('GET');
    const one = 'HTTP/1.1 204 x\r\n\r\n';
    assert.equal(parser.execute(Buffer.from(one + one)), one.length);
    assert.equal(completeCount, 1);
    assert.equal(parser.state, 'start-line');
  });

  it('takes everything and says nothing more after a fault', () => {
    const { parser, events, give } = recordingParser();
    parser.expect('GET');
    assert.equal(give('HTTP/1.1 099 x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'), 37);
    assert.equal(give('HTTP/1.1 200 OK\r\n\r\n'), 19);
    parser.end();
    parser.expect('GET');
    assert.equal(give('HTTP/1.1 204 x\r\n\r\n'), 18);
    assert.deepEqual(events, ['fault BAD_STATUS']);
    assert.equal(parser.faulted, true);
  });

  it('refuses garbage before a line feed comes', () => {
    const { parser, events, give } = recordingParser();
    parser.expect('GET');
    give('HT');
    give('ML');
    assert.deepEqual(events, ['fault BAD_START_LINE']);
  });

  it('knows from its first byte that a head began, and forgets it with interim responses', () => {
    const { parser, give } = recordingParser();
    parser.expect('GET');
    assert.equal(parser.headStarted, false);
    give('H');
    assert.equal(parser.headStarted, true);
    give('TTP/1.1 103 x\r\nA: b\r\n\r\n');
    assert.equal(parser.headStarted, false);
    give('HTTP/1.1 200 OK\r\n');
    assert.equal(parser.headStarted, true);
    assert.equal(parser.inBody, false);
    give('Content-Length: 1\r\n\r\n');
    assert.equal(parser.inBody, true);
    give('x');
    assert.deepEqual([parser.inBody, parser.headStarted, parser.complete], [false, true, true]);
    parser.expect('GET');
    assert.equal(parser.headStarted, false);
  });

  it('ends at FIN only a body that the close delimits', () => {
    for (const [text, complete] of [
      ['HTTP/1.1 200 OK\r\n\r\nhello', true],
      ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello', false],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', false],
      ['HTTP/1.1 200 OK\r\nA: b\r\n', false],
      ['', false],
    ] as const) {
      const { parser, events, give } = recordingParser();
      parser.expect('GET');
      give(text);
      parser.end();
      assert.equal(parser.complete, complete, text);
      assert.equal(events.includes('complete '), complete, text);
    }
  });

  it('reads no body after HEAD and reports the declared length', () => {
    for (const [fields, length] of [
      ['Content-Length: 1234\r\n', 1234],
      ['Transfer-Encoding: chunked\r\n', -1],
      ['', -1],
    ] as const) {
      const { parser, heads, events, give } = recordingParser();
      parser.expect('HEAD');
      const text = `HTTP/1.1 200 OK\r\n${fields}\r\n`;
      assert.equal(give(`${text}x`), text.length);
      assert.deepEqual(events, ['head 200', 'complete ']);
      assert.deepEqual([heads[0]!.bodyKind, heads[0]!.contentLength, heads[0]!.keepAlive], ['none', length, true]);
    }
  });

  it('reports what a 304 declares and reads no body', () => {
    const head = headOf('HTTP/1.1 304 x\r\nContent-Length: 77\r\n\r\n');
    assert.deepEqual([head.bodyKind, head.contentLength, head.keepAlive], ['none', 77, true]);
  });

  it('leaves the bytes after 101 to the other protocol', () => {
    const { parser, events, give } = recordingParser();
    parser.expect('GET');
    const text = 'HTTP/1.1 101 x\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n';
    assert.equal(give(`${text}frame`), text.length);
    assert.deepEqual(events, ['head 101']);
    assert.equal(parser.upgraded, true);
    assert.equal(give('frame'), 0);
  });

  it('leaves the bytes after a 2xx to CONNECT to the tunnel, whatever length it declares', () => {
    const { parser, events, give } = recordingParser();
    parser.expect('CONNECT');
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';
    assert.equal(give(`${text}hello`), text.length);
    assert.deepEqual(events, ['head 200']);
    assert.equal(parser.upgraded, true);
  });

  it('reads the body of a refusal to CONNECT', () => {
    const { parser, events, give } = recordingParser();
    parser.expect('CONNECT');
    give('HTTP/1.1 407 x\r\nContent-Length: 2\r\n\r\nno');
    assert.deepEqual(events, ['head 407', 'data 2', 'complete ']);
  });

  it('allows as many interim responses as the limit says, counted anew for each response', () => {
    const { parser, events, give } = recordingParser({ informationalCount: 2 });
    const interim = 'HTTP/1.1 102 x\r\n\r\n';
    for (let round = 0; round < 2; round++) {
      parser.expect('GET');
      give(`${interim}${interim}HTTP/1.1 204 x\r\n\r\n`);
    }
    parser.expect('GET');
    give(interim.repeat(3));
    assert.equal(events.filter((event) => event === 'complete ').length, 2);
    assert.equal(events.at(-1), 'fault TOO_MANY_INFORMATIONAL');
  });

  it('reads the timeout of Keep-Alive in milliseconds', () => {
    const timeoutOf = (field: string): number => headOf(`HTTP/1.1 204 x\r\n${field}\r\n`).keepAliveTimeoutMs;
    assert.equal(timeoutOf('Keep-Alive: timeout=5, max=100\r\n'), 5000);
    assert.equal(timeoutOf('keep-alive: max=100,Timeout=60\r\n'), 60_000);
    assert.equal(timeoutOf('Keep-Alive: timeout=0\r\n'), 0);
    assert.equal(timeoutOf('Keep-Alive: timeout=9999999999\r\n'), 2 ** 31 - 1);
    assert.equal(timeoutOf('Keep-Alive: timeout=-1\r\n'), -1);
    assert.equal(timeoutOf('Keep-Alive: timeout=x\r\n'), -1);
    assert.equal(timeoutOf(''), -1);
  });

  it('hands body bytes on without copying them', () => {
    const { parser, chunks } = recordingParser();
    parser.expect('GET');
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
    parser.execute(bytes);
    const more = Buffer.from('world');
    parser.execute(more);
    assert.equal(chunks[0]!.buffer, bytes.buffer);
    assert.equal(chunks[1], more);
  });

  it('keeps heads intact when later bytes reuse its memory', () => {
    const { parser, heads, give } = recordingParser();
    parser.expect('GET');
    for (const char of 'HTTP/1.1 200 Fine\r\nX-First: one-long-enough-value\r\nContent-Length: 0\r\n\r\n') give(char);
    parser.expect('GET');
    for (const char of 'HTTP/1.1 201 Made\r\nY-Other: another-long-value!!\r\nContent-Length: 0\r\n\r\n') give(char);
    assert.deepEqual(heads[0]!.fields, ['X-First', 'one-long-enough-value', 'Content-Length', '0']);
    assert.equal(heads[0]!.reason, 'Fine');
  });

  it('reads heads up to the limit and not a byte more', () => {
    const text = 'HTTP/1.1 204 x\r\nA: b\r\n\r\n';
    for (const [headBytes, fault] of [
      [text.length, false],
      [text.length - 1, true],
    ] as const) {
      for (const pieces of [[text], [...text]]) {
        const { parser, give } = recordingParser({ headBytes });
        parser.expect('GET');
        for (const piece of pieces) give(piece);
        assert.equal(parser.faulted, fault);
      }
    }
  });
});
