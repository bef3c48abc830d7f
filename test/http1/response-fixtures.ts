import { refused, type AcceptedCase, type RefusedCase } from './wire-case.ts';

const ok = (fields = '', body = ''): string => `HTTP/1.1 200 OK\r\n${fields}\r\n${body}`;

export const ACCEPTED_RESPONSES: readonly AcceptedCase[] = [
  {
    why: 'a body of known length',
    text: ok('Content-Length: 5\r\n', 'hello'),
    reads: ['200 OK 1|Content-Length,5|hello||true'],
  },
  { why: 'no body but its length', text: ok('Content-Length: 0\r\n'), reads: ['200 OK 1|Content-Length,0|||true'] },
  {
    why: 'a chunked body with trailers',
    text: ok('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n'),
    reads: ['200 OK 1|Transfer-Encoding,chunked|hello|X-Sum,abc|true'],
  },
  { why: 'a body that the close delimits', text: ok('A: b\r\n', 'hello'), reads: ['200 OK 1|A,b|hello||false'] },
  { why: 'HTTP/1.0 that the close delimits', text: 'HTTP/1.0 200 OK\r\n\r\nhello', reads: ['200 OK 0||hello||false'] },
  {
    why: 'HTTP/1.0 that may be kept',
    text: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx',
    reads: ['200 OK 0|Connection,keep-alive,Content-Length,1|x||true'],
  },
  {
    why: 'no reason and no space',
    text: 'HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n',
    reads: ['404  1|Content-Length,0|||true'],
  },
  {
    why: 'a space and no reason',
    text: 'HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n',
    reads: ['404  1|Content-Length,0|||true'],
  },
  {
    why: 'a reason with spaces and obs-text',
    text: 'HTTP/1.1 404 Pas trouv\xe9 !\r\nContent-Length: 0\r\n\r\n',
    reads: ['404 Pas trouv\xe9 ! 1|Content-Length,0|||true'],
  },
  { why: '204 without body', text: 'HTTP/1.1 204 No Content\r\n\r\n', reads: ['204 No Content 1||||true'] },
  {
    why: '204 that declares a body is not followed by another',
    text: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
    reads: ['204 No Content 1|Content-Length,5|||false'],
  },
  {
    why: '204 that declares chunks is not followed by another',
    text: 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
    reads: ['204 No Content 1|Transfer-Encoding,chunked|||false'],
  },
  {
    why: '204 with length 0',
    text: 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
    reads: ['204 No Content 1|Content-Length,0|||true'],
  },
  {
    why: '304 with the length of what it did not send',
    text: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n',
    reads: ['304 Not Modified 1|Content-Length,1234|||true'],
  },
  {
    why: 'interim responses before the final one',
    text: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok('Content-Length: 1\r\n', 'x')}`,
    reads: ['100 Continue 1||||true', '103 Early Hints 1|Link,</a>|||true', '200 OK 1|Content-Length,1|x||true'],
  },
  {
    why: 'two responses in a row',
    text: ok('Content-Length: 1\r\n', 'x') + ok('Transfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    reads: ['200 OK 1|Content-Length,1|x||true', '200 OK 1|Transfer-Encoding,chunked|||true'],
  },
  {
    why: '101 and then another protocol',
    text: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    reads: ['101 Switching Protocols 1|Upgrade,x,Connection,upgrade|||false'],
  },
  {
    why: 'two Set-Cookie lines',
    text: ok('Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n'),
    reads: ['200 OK 1|Set-Cookie,a=1,Set-Cookie,b=2,Content-Length,0|||true'],
  },
  {
    why: 'repeated Host and strange Expect mean nothing here',
    text: ok('Host: a\r\nHost: b\r\nExpect: x\r\nContent-Length: 0\r\n'),
    reads: ['200 OK 1|Host,a,Host,b,Expect,x,Content-Length,0|||true'],
  },
  {
    why: '20 kB of fields',
    text: ok(`X: ${'x'.repeat(20_000)}\r\nContent-Length: 0\r\n`),
    reads: [`200 OK 1|X,${'x'.repeat(20_000)},Content-Length,0|||true`],
  },
];

export const REFUSED_RESPONSES: readonly RefusedCase[] = [
  ...refused(400, 'BAD_START_LINE', {
    garbage: 'garbage',
    'a request': 'GET / HTTP/1.1\r\n\r\n',
    'an empty line first': `\r\n${ok()}`,
    'another protocol': 'ICY 200 OK\r\n\r\n',
    'lower case': 'http/1.1 200 OK\r\n\r\n',
  }),
  ...refused(505, 'BAD_VERSION', {
    'HTTP/2.0': 'HTTP/2.0 200 OK\r\n\r\n',
    'HTTP/1.2': 'HTTP/1.2 200 OK\r\n\r\n',
    'HTTP/0.9': 'HTTP/0.9 200 OK\r\n\r\n',
    'a short line': 'HTTP/\r\nX: HTTP/1.1 200\r\n\r\n',
  }),
  ...refused(400, 'BAD_STATUS', {
    '099': 'HTTP/1.1 099 x\r\n\r\n',
    '600': 'HTTP/1.1 600 x\r\n\r\n',
    '000': 'HTTP/1.1 000 x\r\n\r\n',
    'two digits': 'HTTP/1.1 20\r\n\r\n',
    'four digits': 'HTTP/1.1 2000 x\r\n\r\n',
    'a sign': 'HTTP/1.1 -20 x\r\n\r\n',
    'two spaces': 'HTTP/1.1  200 x\r\n\r\n',
    'no status': 'HTTP/1.1\r\n\r\n',
    'a tab after it': 'HTTP/1.1 200\tOK\r\n\r\n',
  }),
  ...refused(400, 'BAD_REASON', {
    'NUL in the reason': 'HTTP/1.1 200 \0\r\n\r\n',
    'a control character in the reason': 'HTTP/1.1 200 a\x01\r\n\r\n',
  }),
  ...refused(400, 'BARE_LF', {
    'LF after the status line': 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n',
    'LF in the fields': ok('A: b\nContent-Length: 0\r\n'),
  }),
  ...refused(400, 'BARE_CR', { 'CR in a value': ok('A: b\rc\r\n'), 'CR in the reason': 'HTTP/1.1 200 O\rK\r\n\r\n' }),
  ...refused(400, 'OBS_FOLD', { 'a folded value': ok('A: b\r\n c\r\n') }),
  ...refused(400, 'SPACE_BEFORE_COLON', { 'a space before the colon': ok('Content-Length : 0\r\n') }),
  ...refused(400, 'BAD_FIELD_VALUE', {
    'NUL in a value': ok('A: \0\r\n'),
    'a control character in a value': ok('X-Bad: a\x01b\r\n'),
  }),
  ...refused(400, 'DUPLICATE_CONTENT_LENGTH', {
    'two equal lengths': ok('Content-Length: 1\r\nContent-Length: 1\r\n', 'x'),
    'two lengths': ok('Content-Length: 1\r\nContent-Length: 2\r\n', 'xx'),
    'a list': ok('Content-Length: 1, 1\r\n', 'x'),
  }),
  ...refused(400, 'BAD_CONTENT_LENGTH', {
    'no number': ok('Content-Length: x\r\n'),
    'a leading zero': ok('Content-Length: 01\r\n', 'x'),
  }),
  ...refused(400, 'LENGTH_AND_CODING', {
    both: ok('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  }),
  ...refused(400, 'BAD_TRANSFER_ENCODING', {
    identity: ok('Transfer-Encoding: identity\r\n'),
    'chunked twice': ok('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'),
    'a tab after it': ok('Transfer-Encoding: chunked\t\r\n', '0\r\n\r\n'),
  }),
  ...refused(501, 'UNKNOWN_TRANSFER_ENCODING', { 'gzip, chunked': ok('Transfer-Encoding: gzip, chunked\r\n') }),
  ...refused(400, 'CODING_IN_HTTP_1_0', {
    'chunked in HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  }),
  ...refused(400, 'BAD_INFORMATIONAL', {
    'an interim response with a body': 'HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello',
    'one with chunks': 'HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\n',
    'one that closes': 'HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n',
    'one in HTTP/1.0': 'HTTP/1.0 100 Continue\r\n\r\n',
  }),
  ...refused(400, 'TOO_MANY_INFORMATIONAL', { '33 interim responses': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(33) }),
  ...refused(400, 'BAD_CHUNK_SIZE', { 'a bad chunk size': ok('Transfer-Encoding: chunked\r\n', 'zz\r\n') }),
  ...refused(431, 'HEAD_TOO_LARGE', {
    'a value beyond 64 KiB': ok(`X: ${'x'.repeat(65_536)}\r\n`),
    'a reason beyond 64 KiB': `HTTP/1.1 200 ${'x'.repeat(65_536)}`,
  }),
  ...refused(431, 'TOO_MANY_FIELDS', { '201 fields': ok('X: y\r\n'.repeat(201)) }),
];
