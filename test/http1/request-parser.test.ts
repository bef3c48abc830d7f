import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestHead } from '../../src/http1/message.ts';
import { createRequestParser, type RequestParser } from '../../src/http1/request-parser.ts';

interface Recorded {
  readonly parser: RequestParser;
  readonly heads: RequestHead[];
  readonly events: string[];
  give(text: string): number;
}

function recordingParser(): Recorded {
  const heads: RequestHead[] = [];
  const events: string[] = [];
  const parser = createRequestParser({
    onHead: (head) => {
      heads.push(head);
      events.push(`head ${head.target}`);
    },
    onData: (chunk) => events.push(`data ${chunk.toString('latin1')}`),
    onComplete: (trailers) => events.push(`complete ${trailers.join()}`),
    onFault: (fault) => events.push(`fault ${fault.code} ${fault.status}`),
  });
  return { parser, heads, events, give: (text) => parser.execute(Buffer.from(text, 'latin1')) };
}

function headOf(text: string): RequestHead {
  const { heads, give } = recordingParser();
  give(text);
  assert.equal(heads.length, 1);
  return heads[0]!;
}

const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('request parser', () => {
  it('stops behind each request and waits for next', () => {
    const { parser, events, give } = recordingParser();
    const bytes = get('/1') + get('/2');
    const taken = give(bytes);
    assert.equal(taken, get('/1').length);
    assert.equal(parser.complete, true);
    assert.equal(give(bytes.slice(taken)), 0);
    parser.next();
    assert.equal(give(bytes.slice(taken)), get('/2').length);
    assert.deepEqual(events, ['head /1', 'complete ', 'head /2', 'complete ']);
  });

  it('ignores next in the middle of a request', () => {
    const { parser, events, give } = recordingParser();
    give('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx');
    parser.next();
    give('y');
    assert.deepEqual(events, ['head /', 'data x', 'data y', 'complete ']);
  });

  it('stays refused after a fault, whatever follows', () => {
    const { parser, events, give } = recordingParser();
    assert.equal(give(`GET / HTTP/1.1\r\n\r\n${get('/2')}`), 18 + get('/2').length);
    parser.next();
    give(get('/3'));
    assert.deepEqual(events, ['fault MISSING_HOST 400']);
  });

  it('refuses what is not HTTP at its first byte', () => {
    const { events, give } = recordingParser();
    give('\x16');
    assert.deepEqual(events, ['fault BAD_START_LINE 400']);
  });

  it('tells an idle connection from one in the middle of a head or a body', () => {
    const { parser, give } = recordingParser();
    assert.deepEqual([parser.headStarted, parser.inBody, parser.complete], [false, false, false]);
    give('P');
    assert.deepEqual([parser.headStarted, parser.inBody], [true, false]);
    give('OST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n');
    assert.deepEqual([parser.headStarted, parser.inBody], [true, false]);
    give('\r\n');
    assert.deepEqual([parser.headStarted, parser.inBody], [false, true]);
    give('1\r\nx\r\n0\r\nA: b\r\n');
    assert.deepEqual([parser.headStarted, parser.inBody], [false, true]);
    give('\r\n');
    assert.deepEqual([parser.headStarted, parser.inBody, parser.complete], [false, false, true]);
  });

  it('does not take a stray empty line for the beginning of a request', () => {
    const { parser, give } = recordingParser();
    give(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx`);
    parser.next();
    assert.equal(give('\r\n'), 2);
    assert.equal(parser.headStarted, false);
  });

  it('sees Expect: 100-continue in HTTP/1.1 only', () => {
    const expecting = (version: string): boolean =>
      headOf(`POST / ${version}\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n`).expectContinue;
    assert.equal(expecting('HTTP/1.1'), true);
    assert.equal(expecting('HTTP/1.0'), false);
    assert.equal(headOf(get('/')).expectContinue, false);
  });

  it('sees an upgrade only when Connection nominates it, in HTTP/1.1', () => {
    const upgrading = (fields: string, version = 'HTTP/1.1'): boolean =>
      headOf(`GET / ${version}\r\nHost: a\r\n${fields}\r\n`).upgrade;
    assert.equal(upgrading('Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n'), true);
    assert.equal(upgrading('Upgrade: websocket\r\n'), false);
    assert.equal(upgrading('Connection: upgrade\r\n'), false);
    assert.equal(upgrading('Upgrade: websocket\r\nConnection: upgrade\r\n', 'HTTP/1.0'), false);
  });

  it('tells bodies apart', () => {
    const kindOf = (framing: string): unknown[] => {
      const head = headOf(`POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n`);
      return [head.bodyKind, head.contentLength];
    };
    assert.deepEqual(kindOf(''), ['none', -1]);
    assert.deepEqual(kindOf('Content-Length: 0\r\n'), ['length', 0]);
    assert.deepEqual(kindOf('Content-Length: 9007199254740991\r\n'), ['length', Number.MAX_SAFE_INTEGER]);
    assert.deepEqual(kindOf('Transfer-Encoding: chunked\r\n'), ['chunked', -1]);
  });
});
