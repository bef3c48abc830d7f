import { refused, type AcceptedCase, type RefusedCase } from './wire-case.ts';

const H = 'Host: a\r\n';
const get = (line: string, fields = H): string => `${line}\r\n${fields}\r\n`;
const withFields = (fields: string): string => `GET / HTTP/1.1\r\n${fields}\r\n`;
const post = (framing: string, body = ''): string => `POST / HTTP/1.1\r\n${H}${framing}\r\n${body}`;
const chunked = (body: string): string => post('Transfer-Encoding: chunked\r\n', body);

export const ACCEPTED_REQUESTS: readonly AcceptedCase[] = [
  { why: 'a plain GET', text: get('GET /a?b=%20 HTTP/1.1'), reads: ['GET /a?b=%20 1|Host,a|||true'] },
  {
    why: 'one empty line before the request line',
    text: `\r\n${get('GET / HTTP/1.1')}`,
    reads: ['GET / 1|Host,a|||true'],
  },
  { why: 'HTTP/1.0 without Host', text: 'GET / HTTP/1.0\r\n\r\n', reads: ['GET / 0||||false'] },
  {
    why: 'HTTP/1.0 that asks to be kept',
    text: 'GET / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n',
    reads: ['GET / 0|Connection,x, Keep-Alive|||true'],
  },
  {
    why: 'HTTP/1.1 that asks to be closed',
    text: withFields(`${H}Connection: x , CLOSE\r\n`),
    reads: ['GET / 1|Host,a,Connection,x , CLOSE|||false'],
  },
  {
    why: 'close and keep-alive together',
    text: withFields(`${H}Connection: close\r\nConnection: keep-alive\r\n`),
    reads: ['GET / 1|Host,a,Connection,close,Connection,keep-alive|||false'],
  },
  {
    why: 'order, case and repeats of fields kept, space around values cut',
    text: withFields(`${H}b:1\r\nA: \t 2 \t\r\nB:\r\na:3  3\r\n`),
    reads: ['GET / 1|Host,a,b,1,A,2,B,,a,3  3|||true'],
  },
  {
    why: 'obs-text in a value',
    text: withFields(`${H}X: caf\xe9\xff\x80\r\n`),
    reads: ['GET / 1|Host,a,X,caf\xe9\xff\x80|||true'],
  },
  {
    why: 'names of Object.prototype',
    text: withFields(`${H}__proto__: a\r\nconstructor: b\r\ntoString: c\r\n`),
    reads: ['GET / 1|Host,a,__proto__,a,constructor,b,toString,c|||true'],
  },
  { why: 'asterisk-form for OPTIONS', text: get('OPTIONS * HTTP/1.1'), reads: ['OPTIONS * 1|Host,a|||true'] },
  {
    why: 'absolute-form that equals Host but for case and default port',
    text: get('GET http://A:80/x HTTP/1.1'),
    reads: ['GET http://A:80/x 1|Host,a|||true'],
  },
  {
    why: 'absolute-form without path',
    text: get('GET http://a?x HTTP/1.1'),
    reads: ['GET http://a?x 1|Host,a|||true'],
  },
  {
    why: 'authority-form for CONNECT',
    text: get('CONNECT a:443 HTTP/1.1', 'Host: a:443\r\n'),
    reads: ['CONNECT a:443 1|Host,a:443|||true'],
  },
  {
    why: 'CONNECT whose Host has no port',
    text: get('CONNECT a:443 HTTP/1.1'),
    reads: ['CONNECT a:443 1|Host,a|||true'],
  },
  {
    why: 'an IPv6 host with a port',
    text: withFields('Host: [::1]:8080\r\n'),
    reads: ['GET / 1|Host,[::1]:8080|||true'],
  },
  {
    why: 'a body of known length',
    text: post('Content-Length: 5\r\n', 'hello'),
    reads: ['POST / 1|Host,a,Content-Length,5|hello||true'],
  },
  {
    why: 'an empty body of known length',
    text: post('content-length:0\r\n'),
    reads: ['POST / 1|Host,a,content-length,0|||true'],
  },
  {
    why: 'a body on GET',
    text: withFields(`${H}Content-Length: 2\r\n`) + 'hi',
    reads: ['GET / 1|Host,a,Content-Length,2|hi||true'],
  },
  {
    why: 'a chunked body',
    text: chunked('5\r\nhello\r\nB\r\n, wide world\r\n0\r\n\r\n').replace('B\r\n', 'C\r\n'),
    reads: ['POST / 1|Host,a,Transfer-Encoding,chunked|hello, wide world||true'],
  },
  {
    why: 'a chunked body with extensions and trailers',
    text: chunked('5;a;b=c;d="e;\\"\xe9"\r\nhello\r\n000\r\nX-Sum: abc\r\nY:\r\n\r\n'),
    reads: ['POST / 1|Host,a,Transfer-Encoding,chunked|hello|X-Sum,abc,Y,|true'],
  },
  {
    why: 'chunked in any case',
    text: post('transfer-encoding: Chunked \r\n', '0\r\n\r\n'),
    reads: ['POST / 1|Host,a,transfer-encoding,Chunked|||true'],
  },
  {
    why: 'a body that spells a request',
    text: `DELETE /d HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n12\r\nGET /x HTTP/1.1\r\n\r\n\r\n0\r\n\r\n`.replace(
      '12\r\n',
      '13\r\n',
    ),
    reads: ['DELETE /d 1|Host,a,Transfer-Encoding,chunked|GET /x HTTP/1.1\r\n\r\n||true'],
  },
  {
    why: 'three pipelined requests',
    text: post('Content-Length: 2\r\n', 'ab') + get('GET /2 HTTP/1.1') + chunked('1\r\nc\r\n0\r\n\r\n'),
    reads: [
      'POST / 1|Host,a,Content-Length,2|ab||true',
      'GET /2 1|Host,a|||true',
      'POST / 1|Host,a,Transfer-Encoding,chunked|c||true',
    ],
  },
  {
    why: 'an empty line before each of two pipelined requests',
    text: `\r\n${get('GET /1 HTTP/1.1')}\r\n${get('GET /2 HTTP/1.1')}`,
    reads: ['GET /1 1|Host,a|||true', 'GET /2 1|Host,a|||true'],
  },
];

export const REFUSED_REQUESTS: readonly RefusedCase[] = [
  ...refused(400, 'BAD_START_LINE', {
    'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'a leading space': ` ${get('GET / HTTP/1.1')}`,
    'HTTP/0.9': 'GET /\r\n',
    'no target and version': 'GET\r\n\r\n',
    'two spaces before the version': get('GET /  HTTP/1.1'),
    'a space in the target': get('GET /a b HTTP/1.1'),
    'lower-case http': get('GET / http/1.1'),
    'another protocol': get('GET / RTSP/1.0'),
    'garbage after an empty line': '\r\n\0',
  }),
  ...refused(400, 'EMPTY_LINES', { 'two empty lines first': `\r\n\r\n${get('GET / HTTP/1.1')}` }),
  ...refused(400, 'BAD_METHOD', {
    'a method that is no token': get('G@T / HTTP/1.1'),
    'a tab after the method': get('GET\t/ HTTP/1.1'),
  }),
  ...refused(501, 'UNKNOWN_METHOD', {
    'a lower-case method': get('get / HTTP/1.1'),
    'a method nobody registered': get('FOO / HTTP/1.1'),
    "HTTP/2's preface": 'PRI * HTTP/1.1\r\n\r\nSM\r\n\r\n',
  }),
  ...refused(400, 'BAD_TARGET', {
    'two spaces before the target': get('GET  / HTTP/1.1'),
    'a fragment': get('GET /a#b HTTP/1.1'),
    'a control character in the target': get('GET /\x01 HTTP/1.1'),
    'NUL in the target': get('GET /\0 HTTP/1.1'),
    'a raw high byte in the target': get('GET /\x80 HTTP/1.1'),
    'a target without slash': get('GET a HTTP/1.1'),
    'asterisk-form for GET': get('GET * HTTP/1.1'),
    'authority-form for GET': get('GET a:443 HTTP/1.1'),
    'origin-form for CONNECT': get('CONNECT / HTTP/1.1'),
    'CONNECT without port': get('CONNECT a HTTP/1.1'),
    'CONNECT to an IPv6 host without port': get('CONNECT [::1] HTTP/1.1', 'Host: [::1]\r\n'),
    'userinfo in the authority': get('GET http://u@a/ HTTP/1.1'),
    'an empty authority': get('GET http:///x HTTP/1.1'),
    'another scheme': get('GET ftp://a/ HTTP/1.1'),
    'a backslash in the authority': get('GET http://a\\b/ HTTP/1.1'),
  }),
  ...refused(505, 'BAD_VERSION', {
    'HTTP/2.0': get('GET / HTTP/2.0'),
    'HTTP/1.2': get('GET / HTTP/1.2'),
    'HTTP/0.9 spelled out': get('GET / HTTP/0.9'),
    'two digits': get('GET / HTTP/1.10'),
    'no minor digit': get('GET / HTTP/1.'),
    'a space after it': get('GET / HTTP/1.1 '),
  }),
  ...refused(400, 'BARE_LF', {
    'LF after the request line': `GET / HTTP/1.1\n${H}\r\n`,
    'LF after a field': `GET / HTTP/1.1\r\nHost: a\n\r\n`,
    'LF as the empty line': `GET / HTTP/1.1\r\n${H}\n`,
    'LF before everything': '\nGET / HTTP/1.1\r\n',
  }),
  ...refused(400, 'BARE_CR', {
    'CR in a value': withFields(`${H}X: a\rb\r\n`),
    'CR in the request line': get('GET /\ra HTTP/1.1'),
    'CR CR LF': withFields('Host: a\r\r\n'),
    'CR as the empty line': `GET / HTTP/1.1\r\n${H}\rX: y\r\n\r\n`,
  }),
  ...refused(400, 'OBS_FOLD', {
    'a folded value': withFields(`${H}X: a\r\n b\r\n`),
    'a field after a tab': withFields(`\t${H}`),
  }),
  ...refused(400, 'SPACE_BEFORE_COLON', {
    'a space before the colon': withFields('Host : a\r\n'),
    'a tab before the colon of a framing field': post('Content-Length\t: 5\r\n', 'hello'),
  }),
  ...refused(400, 'BAD_FIELD_NAME', {
    'no colon': withFields(`${H}X\r\n`),
    'an empty name': withFields(`${H}: x\r\n`),
    'a space in a name': withFields(`${H}X Y: z\r\n`),
    'a high byte in a name': withFields(`${H}X\xe9: z\r\n`),
    'NUL in a name': withFields(`${H}X\0: z\r\n`),
    'a bracket in a name': withFields(`${H}X(: z\r\n`),
  }),
  ...refused(400, 'BAD_FIELD_VALUE', {
    'NUL in a value': withFields(`${H}X: a\0\r\n`),
    'a control character': withFields(`${H}X: \x01\r\n`),
    DEL: withFields(`${H}X: \x7f\r\n`),
    'a vertical tab before chunked': post('Transfer-Encoding: \x0bchunked\r\n'),
  }),
  ...refused(400, 'MISSING_HOST', {
    'no Host in HTTP/1.1': withFields('X: y\r\n'),
    'no Host with absolute-form': get('GET http://a/ HTTP/1.1', ''),
  }),
  ...refused(400, 'DUPLICATE_HOST', {
    'two equal Hosts': withFields(H + H),
    'two Hosts in HTTP/1.0': get('GET / HTTP/1.0', `${H}host: b\r\n`),
  }),
  ...refused(400, 'BAD_HOST', {
    'an empty Host': withFields('Host:\r\n'),
    'userinfo in Host': withFields('Host: u@a\r\n'),
    'a path in Host': withFields('Host: a/b\r\n'),
    'a list in Host': withFields('Host: a, b\r\n'),
    'a bad port': withFields('Host: a:99999\r\n'),
    'an empty port': withFields('Host: a:\r\n'),
    'a bad Host in HTTP/1.0': get('GET / HTTP/1.0', 'Host: a b\r\n'),
  }),
  ...refused(400, 'HOST_MISMATCH', {
    'absolute-form of another host': get('GET http://b/ HTTP/1.1'),
    'absolute-form of another port': get('GET http://a:81/ HTTP/1.1'),
    "the other scheme's default port": get('GET https://a:80/ HTTP/1.1'),
    'CONNECT to another host': get('CONNECT b:443 HTTP/1.1'),
    'CONNECT to another port': get('CONNECT a:443 HTTP/1.1', 'Host: a:444\r\n'),
  }),
  ...refused(400, 'DUPLICATE_CONTENT_LENGTH', {
    'two equal lengths': post('Content-Length: 5\r\ncontent-length: 5\r\n', 'hello'),
    'a list of lengths': post('Content-Length: 5, 5\r\n', 'hello'),
  }),
  ...refused(400, 'BAD_CONTENT_LENGTH', {
    'a sign': post('Content-Length: +5\r\n', 'hello'),
    hexadecimal: post('Content-Length: 0x5\r\n', 'hello'),
    'a leading zero': post('Content-Length: 010\r\n', 'hello'),
    negative: post('Content-Length: -1\r\n'),
    empty: post('Content-Length:\r\n'),
    'two numbers': post('Content-Length: 5 5\r\n'),
    '2^53': post('Content-Length: 9007199254740992\r\n'),
    'many digits': post('Content-Length: 18446744073709551621\r\n'),
    'a tab after it': post('Content-Length: 5\t\r\n', 'hello'),
  }),
  ...refused(400, 'LENGTH_AND_CODING', {
    'length, then chunked': post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    'chunked, then length': post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', '0\r\n\r\n'),
  }),
  ...refused(400, 'BAD_TRANSFER_ENCODING', {
    'chunked twice on two lines': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    identity: post('Transfer-Encoding: identity\r\n'),
    empty: post('Transfer-Encoding:\r\n'),
    'chunked not last': post('Transfer-Encoding: chunked, gzip\r\n'),
    'chunked twice': post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n'),
    'a parameter': post('Transfer-Encoding: chunked;a=b\r\n'),
    quotes: post('Transfer-Encoding: "chunked"\r\n'),
    'a tab after it': post('Transfer-Encoding: chunked\t\r\n', '0\r\n\r\n'),
  }),
  ...refused(501, 'UNKNOWN_TRANSFER_ENCODING', { 'gzip, chunked': post('Transfer-Encoding: gzip, chunked\r\n') }),
  ...refused(400, 'CODING_IN_HTTP_1_0', {
    'chunked in HTTP/1.0': `POST / HTTP/1.0\r\n${H}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  }),
  ...refused(400, 'UNEXPECTED_BODY', {
    'CONNECT with a length': get('CONNECT a:443 HTTP/1.1', `${H}Content-Length: 2\r\n`),
  }),
  ...refused(417, 'BAD_EXPECT', {
    'another expectation': withFields(`${H}Expect: 200-ok\r\n`),
    'two expectations': withFields(`${H}Expect: 100-continue\r\nExpect: 100-continue\r\n`),
  }),
  ...refused(400, 'BAD_CHUNK_SIZE', {
    'no digit': chunked('\r\n'),
    'a sign': chunked('+1\r\n'),
    '0x': chunked('0x1\r\n'),
    'a space before': chunked(' 1\r\n'),
    'a space after': chunked('1 \r\nx\r\n'),
    'a letter': chunked('g\r\n'),
    'beyond 2^53': chunked('20000000000000\r\n'),
    'far beyond': chunked('100000000000000001\r\n'),
  }),
  ...refused(400, 'BAD_CHUNK_EXTENSION', {
    'an empty extension': chunked('1;\r\nx\r\n'),
    'a space in it': chunked('1; a\r\nx\r\n'),
    'no value': chunked('1;a=\r\nx\r\n'),
    'an open quote': chunked('1;a="b\r\nx\r\n'),
    'text after the quote': chunked('1;a="b"c\r\nx\r\n'),
    'NUL in it': chunked('1;a="\0"\r\nx\r\n'),
  }),
  ...refused(400, 'BARE_LF', {
    'LF after a chunk size': chunked('1\nx\r\n'),
    'LF as the end of trailers': chunked('0\r\n\n'),
    'LF in a chunk extension': chunked('1;a\nx\r\n'),
  }),
  ...refused(400, 'BARE_CR', { 'CR after a chunk size': chunked('1\rx\r\n') }),
  ...refused(400, 'BAD_CHUNK_END', {
    'data longer than its chunk': chunked('1\r\nxx\r\n'),
    'data ended by LF': chunked('1\r\nx\n'),
    'data ended by CR alone': chunked('1\r\nx\rx'),
  }),
  ...refused(400, 'FORBIDDEN_TRAILER', {
    'a length in the trailers': chunked('0\r\nContent-Length: 5\r\n\r\n'),
    'Host in the trailers': chunked('0\r\nhost: b\r\n\r\n'),
    'a coding in the trailers': chunked('0\r\nTransfer-Encoding: chunked\r\n\r\n'),
  }),
  ...refused(400, 'OBS_FOLD', { 'a folded trailer': chunked('0\r\nX: a\r\n b\r\n\r\n') }),
  ...refused(431, 'HEAD_TOO_LARGE', {
    'a value beyond 16 KiB': withFields(`${H}X: ${'x'.repeat(16_384)}\r\n`),
    'many fields beyond 16 KiB': withFields(H + `X: ${'x'.repeat(400)}\r\n`.repeat(41)),
    'a line that never ends': `GET / HTTP/1.1\r\n${'x'.repeat(16_400)}`,
  }),
  ...refused(431, 'TOO_MANY_FIELDS', { '101 fields': withFields(H + 'X: y\r\n'.repeat(100)) }),
  ...refused(414, 'TARGET_TOO_LONG', {
    'a long target': get(`GET /${'a'.repeat(8192)} HTTP/1.1`),
    'a target that never ends': `GET /${'a'.repeat(8192)}`,
  }),
  ...refused(400, 'CHUNK_LINE_TOO_LONG', {
    'a long chunk extension': chunked(`1;${'a'.repeat(256)}\r\nx\r\n`),
    'endless zeros': chunked('0'.repeat(300)),
  }),
  ...refused(431, 'TRAILERS_TOO_LARGE', { 'long trailers': chunked(`0\r\nX: ${'x'.repeat(8192)}\r\n\r\n`) }),
  ...refused(431, 'TOO_MANY_FIELDS', { 'many trailers': chunked(`0\r\n${'X: y\r\n'.repeat(101)}\r\n`) }),
];
