import type { Wire } from './differential.ts';
import type { Random } from './random.ts';

/** Likely-valid choices come first and are picked more often; the rest is what parsers have disagreed about. */
interface Menu {
  readonly plain: readonly string[];
  readonly odd: readonly string[];
}

const METHOD: Menu = {
  plain: ['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'QUERY'],
  odd: ['CONNECT', 'get', 'PRI', 'M-SEARCH', 'G@T', '', 'GET ', 'SOURCE', 'FOO'],
};
const TARGET: Menu = {
  plain: ['/', '/a/b?c=d', '/%2f..;x', '*', 'http://a/', 'http://a', 'a:443'],
  odd: [
    '',
    'http://b/',
    'http://u@a/',
    'https://a?x',
    '/a b',
    '/a#b',
    '/\x80',
    'a',
    '//a',
    '/\x7f',
    'http://a:/',
    'http:///x',
    'ftp://a/',
    '/\\',
    '/"<>^`{|}',
    '/\t',
    '/\0',
  ],
};
const VERSION: Menu = {
  plain: ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'],
  odd: ['HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'http/1.1', 'HTTP/1.1 ', 'HTTP/11', 'HTTP/1', '', 'RTSP/1.0', 'HTTP/1.10'],
};
const STATUS: Menu = {
  plain: ['200', '204', '304', '404', '100', '103', '206', '500'],
  odd: ['101', '099', '600', '20', '2000', '', '-10', '2x0', '999', '000'],
};
const REASON: Menu = {
  plain: [' OK', '', ' ', ' Not Found'],
  odd: ['  two', ' \t', ' \x80', ' \x01', ' a\rb', '\t', 'OK', ' \0'],
};
const FIELD: Menu = {
  plain: [
    'Host: a',
    'X: y',
    'Accept: */*',
    'Connection: keep-alive',
    'Cookie: a=b; c=d',
    'X-Empty:',
    'X-Obs: caf\xe9',
    'Keep-Alive: timeout=5',
    'Connection: close',
    'Trailer: X',
    'Set-Cookie: a=b',
    "a!#$%&'*+-.^_`|~9: x",
  ],
  odd: [
    'Host: b',
    'Host: a, b',
    'Host:',
    'Host: u@a',
    'Host: a/b',
    'X : y',
    ' X: y',
    '\tfold',
    'X',
    ': y',
    'X: a\0b',
    'X: a\x01b',
    'X: a\rb',
    'X: a\x7fb',
    'X(: y',
    'X\x80: y',
    'X:\ty\t ',
    'X: a\nY: b',
    'Expect: 100-continue',
    'Expect: 200-ok',
    'Upgrade: websocket',
    'Connection: upgrade',
    'Connection: Upgrade, close',
    'Connection: close, keep-alive',
    'Connection: , close ,',
    'Connection: keep-alive close',
    'connection:\tCLOSE\t',
    'Connection: closed',
    'Connection: clos',
    'Proxy-Connection: close',
    'Connection: "close"',
    'HTTP2-Settings: x',
  ],
};
const FRAMING: Menu = {
  plain: [
    '',
    'Content-Length: 5',
    'Transfer-Encoding: chunked',
    'Content-Length: 0',
    'transfer-encoding:chunked',
    'CONTENT-LENGTH:5',
    'Transfer-Encoding: CHUNKED ',
  ],
  odd: [
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
    'Content-Length: 5\r\nContent-Length: 5',
    'Content-Length: 5\r\nContent-Length: 6',
    'Content-Length: 5, 5',
    'Content-Length: +5',
    'Content-Length: 05',
    'Content-Length: 0x5',
    'Content-Length: 5 ',
    'Content-Length: -5',
    'Content-Length: 5 5',
    'Content-Length:',
    'Content-Length: 99999999999999999999',
    'Content-Length: 18446744073709551621',
    'Content-Length: 5;',
    'Content-Length: 5\t',
    'Content-Length:\t5',
    'Transfer-Encoding: chunked \t ',
    'Transfer-Encoding:\tchunked',
    'Content-Length: 5 \t',
    'Content_Length: 5',
    'Content-Length : 5',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked, gzip',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunkedx',
    'Transfer-Encoding: "chunked"',
    'Transfer-Encoding: chunked;a=b',
    'Transfer-Encoding:',
    'Transfer-Encoding: \x0bchunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding\t: chunked',
    'Transfer-Encoding: chunked\xa0',
    'Transfer-Encoding: ,chunked',
    'Transfer-Encoding:\r\n chunked',
  ],
};
const BODY: Menu = {
  plain: [
    'hello',
    '5\r\nhello\r\n0\r\n\r\n',
    '',
    '5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n',
    '3\r\nhel\r\n2\r\nlo\r\n00\r\n\r\n',
    'A\r\n0123456789\r\n0\r\n\r\n',
  ],
  odd: [],
};
const CHUNKS: readonly string[] = [
  '5\r\nhello\r\n',
  '05\r\nhello\r\n',
  'a\r\n0123456789\r\n',
  '1;a\r\nx\r\n',
  '1;a="b\\"c"\r\nx\r\n',
  '1;a=b;c=d\r\nx\r\n',
  '1 ;a\r\nx\r\n',
  '1; a\r\nx\r\n',
  '1;\r\nx\r\n',
  '1;=\r\nx\r\n',
  '1;a=\r\nx\r\n',
  '1;a="\r\nx\r\n',
  '1 \r\nx\r\n',
  ' 1\r\nx\r\n',
  '+1\r\nx\r\n',
  '0x1\r\nx\r\n',
  '-1\r\nx\r\n',
  '1\nx\r\n',
  '1\r\nx\n',
  '1\r\nx',
  '1\rx\r\n',
  '1\r\nxx\r\n',
  '5\r\nhell\r\n',
  'g\r\nx\r\n',
  '\r\nx\r\n',
  '1;a\nb\r\nx\r\n',
  '1;a=\x80\r\nx\r\n',
  '1;a="\x80\t"\r\nx\r\n',
  '1;a="\0"\r\nx\r\n',
  '10000000000000000\r\nx\r\n',
  '10000000000000001\r\nx\r\n',
  'ffffffffffffffff\r\nx\r\n',
  '1;a="b"c\r\nx\r\n',
  '1;a"\r\nx\r\n',
  '1;a==b\r\nx\r\n',
  "1;!#$%&'*+-.^_`|~=x\r\nx\r\n",
];
const LAST_CHUNKS: readonly string[] = [
  '0\r\n\r\n',
  '0\r\n\r\n',
  '0\r\nX: y\r\n\r\n',
  '000\r\n\r\n',
  '0;a\r\n\r\n',
  '0\r\nHost: b\r\n\r\n',
  '0\r\nContent-Length: 5\r\n\r\n',
  '0\r\nTransfer-Encoding: chunked\r\n\r\n',
  '0\r\n X: y\r\n\r\n',
  '0\n\n',
  '0\r\n\n',
  '0\r\n',
  '0\r\nX : y\r\n\r\n',
  '0\r\nX: a\0\r\n\r\n',
  '0\r\nA: b\r\nC: d\r\n\r\n',
  '0\r\n\rX',
];
const LINE_END: Menu = { plain: ['\r\n'], odd: ['\n', '\r', '\r\r\n', '\r\n\r\n', ' \r\n', '\n\r', '\0\r\n'] };
const BYTES: readonly string[] = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '0',
  '1',
  'f',
  '\x7f',
  '\x80',
  '\xff',
  '\x0b',
  '"',
  '/',
  '-',
  '+',
  'H',
];

/** One connection's bytes: one to three messages of the grammar with odd parts, then perhaps broken at random bytes. */
export function randomWire(random: Random): Wire {
  const kind = random.chance(0.5) ? 'request' : 'response';
  const requestMethod = kind === 'request' ? '' : random.pick(['GET', 'GET', 'GET', 'POST', 'HEAD', 'CONNECT']);
  let text = random.chance(0.05) ? random.pick(['\r\n', '\r\n\r\n', '\n', '\r', ' ', '\0']) : '';
  const oddness = random.pick([0, 0, 0.02, 0.1, 0.3]);
  for (let count = 1 + random.below(3); count > 0; count--) text += randomMessage(random, kind, oddness);
  if (random.chance(0.3)) text = mutate(random, text);
  return { kind, bytes: Buffer.from(text, 'latin1'), requestMethod };
}

function randomMessage(random: Random, kind: 'request' | 'response', oddness: number): string {
  const choose = (menu: Menu): string =>
    random.pick(menu.odd.length > 0 && random.chance(oddness) ? menu.odd : menu.plain);
  const space = random.chance(oddness) ? random.pick(['  ', '\t', '', ' \t']) : ' ';
  const startLine =
    kind === 'request' ? requestLine(choose, space) : `${choose(VERSION)}${space}${choose(STATUS)}${choose(REASON)}`;
  const lines = [startLine];
  const fieldCount = random.below(4);
  if (kind === 'request' && !random.chance(oddness)) lines.push('Host: a');
  for (let i = 0; i < fieldCount; i++) {
    const field = choose(FIELD);
    // A second Host ends the case at once; the odd menu has enough of that.
    if (field !== 'Host: a') lines.push(field);
  }
  const framing = choose(FRAMING);
  if (framing !== '') lines.splice(1 + random.below(lines.length), 0, framing);
  const head = lines.map((line) => line + choose(LINE_END)).join('') + choose(LINE_END);
  return head + randomBody(random, framing, oddness);
}

function requestLine(choose: (menu: Menu) => string, space: string): string {
  const target = choose(TARGET);
  const method = target === '*' ? 'OPTIONS' : target === 'a:443' ? 'CONNECT' : choose(METHOD);
  return `${method}${space}${target}${space}${choose(VERSION)}`;
}

/** Mostly a body that fits the framing: cases that all die at the first body byte find nothing behind it. */
function randomBody(random: Random, framing: string, oddness: number): string {
  if (random.chance(oddness)) return random.pick(BODY.plain);
  const lower = framing.toLowerCase();
  if (lower.includes('chunked')) {
    let text = '';
    for (let count = random.below(3); count > 0; count--)
      text += random.chance(oddness + 0.1) ? random.pick(CHUNKS) : random.pick(CHUNKS.slice(0, 6));
    return text + (random.chance(oddness + 0.1) ? random.pick(LAST_CHUNKS) : random.pick(LAST_CHUNKS.slice(0, 3)));
  }
  return lower.includes('length') && lower.includes('5') ? 'hello' : '';
}

function mutate(random: Random, text: string): string {
  let mutated = text;
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(mutated.length + 1);
    const length = random.below(4);
    switch (random.below(5)) {
      case 0:
        mutated = mutated.slice(0, at) + random.pick(BYTES) + mutated.slice(at);
        break;
      case 1:
        mutated = mutated.slice(0, at) + random.pick(BYTES) + mutated.slice(at + 1);
        break;
      case 2:
        mutated = mutated.slice(0, at) + mutated.slice(at + length);
        break;
      case 3:
        mutated = mutated.slice(0, at + length * 4) + mutated.slice(at);
        break;
      default:
        mutated = mutated.slice(0, at) + String.fromCharCode(random.below(256)) + mutated.slice(at + 1);
    }
  }
  return mutated;
}
