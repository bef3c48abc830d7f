/** Bytes that are not one unambiguous HTTP message, as data: for the parsers and for the gateway alike. */
export interface Malformed {
  /** Ends the sentence "… is refused". */
  readonly name: string;
  readonly bytes: string;
  /** Node's own parser takes it for what it plainly means; our strict one does not. */
  readonly nodeAccepts?: boolean;
}

const ok = (fields: string, body: string = ''): string => `HTTP/1.1 200 OK\r\n${fields}\r\n${body}`;

/** Response heads that no client may accept. Each is complete, so that only their content decides. */
export const malformedResponseHeads: readonly Malformed[] = [
  { name: 'another protocol', bytes: 'SSH-2.0-OpenSSH_9.9\r\n\r\n' },
  { name: 'binary garbage', bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n' },
  { name: 'a body without a head', bytes: '<html>hello</html>\r\n\r\n' },
  { name: 'a version without a minor digit', bytes: 'HTTP/1 200 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'major version 2', bytes: 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'major version 3', bytes: 'HTTP/3.1 200 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a lower-case protocol name', bytes: 'http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'status 099', bytes: 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n' },
  { name: 'status 000', bytes: 'HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n' },
  { name: 'status 600', bytes: 'HTTP/1.1 600 High\r\nContent-Length: 0\r\n\r\n' },
  { name: 'status 999', bytes: 'HTTP/1.1 999 Highest\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a status of four digits', bytes: 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a status of two digits', bytes: 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a status that is a word', bytes: 'HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a negative status', bytes: 'HTTP/1.1 -200 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a pair of different Content-Lengths', bytes: ok('Content-Length: 3\r\nContent-Length: 4\r\n', 'abc') },
  { name: 'a list of different lengths in one Content-Length', bytes: ok('Content-Length: 3, 4\r\n', 'abc') },
  { name: 'a Content-Length with a plus sign', bytes: ok('Content-Length: +3\r\n', 'abc') },
  { name: 'a negative Content-Length', bytes: ok('Content-Length: -3\r\n', 'abc') },
  { name: 'a hexadecimal Content-Length', bytes: ok('Content-Length: 0x3\r\n', 'abc') },
  { name: 'a fractional Content-Length', bytes: ok('Content-Length: 3.0\r\n', 'abc') },
  { name: 'an empty Content-Length', bytes: ok('Content-Length: \r\n', 'abc') },
  { name: 'a Content-Length beyond every integer', bytes: ok('Content-Length: 99999999999999999999\r\n', 'abc') },
  { name: 'a Content-Length with a space in it', bytes: ok('Content-Length: 3 3\r\n', 'abc') },
  {
    name: 'Content-Length and Transfer-Encoding together',
    bytes: ok('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'),
  },
  { name: 'an unknown transfer coding', bytes: ok('Transfer-Encoding: gzip\r\n', 'abc') },
  {
    name: 'chunked followed by another coding',
    bytes: ok('Transfer-Encoding: chunked, gzip\r\n', '3\r\nabc\r\n0\r\n\r\n'),
  },
  { name: 'chunked twice', bytes: ok('Transfer-Encoding: chunked, chunked\r\n', '3\r\nabc\r\n0\r\n\r\n') },
  { name: 'a look-alike of chunked', bytes: ok('Transfer-Encoding: xchunked\r\n', '3\r\nabc\r\n0\r\n\r\n') },
  { name: 'a quoted coding', bytes: ok('Transfer-Encoding: "chunked"\r\n', '3\r\nabc\r\n0\r\n\r\n') },
  { name: 'a NUL in a field value', bytes: ok('X-Bad: a\0b\r\nContent-Length: 0\r\n') },
  { name: 'a bare CR in a field value', bytes: ok('X-Bad: a\rb\r\nContent-Length: 0\r\n') },
  { name: 'a space before the colon', bytes: ok('X-Bad : a\r\nContent-Length: 0\r\n') },
  { name: 'a folded field value', bytes: ok('X-Bad: a\r\n b\r\nContent-Length: 0\r\n') },
  { name: 'a first field line that begins with a space', bytes: ok(' X-Bad: a\r\nContent-Length: 0\r\n') },
  { name: 'a field line without a colon', bytes: ok('X-Bad\r\nContent-Length: 0\r\n') },
  { name: 'an empty field name', bytes: ok(': a\r\nContent-Length: 0\r\n') },
  { name: 'a field name with a control character', bytes: ok('X\x01Bad: a\r\nContent-Length: 0\r\n') },
];

/** Chunked bodies that break off the framing; the head before them is fine. */
export const malformedChunkedBodies: readonly Malformed[] = [
  { name: 'a chunk size that is no number', bytes: 'xyz\r\nabc\r\n0\r\n\r\n' },
  { name: 'a negative chunk size', bytes: '-3\r\nabc\r\n0\r\n\r\n' },
  { name: 'a chunk size with 0x', bytes: '0x3\r\nabc\r\n0\r\n\r\n' },
  { name: 'a chunk size with a leading space', bytes: ' 3\r\nabc\r\n0\r\n\r\n' },
  { name: 'a chunk size beyond every integer', bytes: 'fffffffffffffffff\r\nabc\r\n0\r\n\r\n' },
  { name: 'an empty chunk size line', bytes: '\r\nabc\r\n0\r\n\r\n' },
  { name: 'a chunk longer than its size', bytes: '2\r\nabc\r\n0\r\n\r\n' },
  { name: 'a chunk shorter than its size', bytes: '4\r\nabc\r\n0\r\n\r\n' },
  { name: 'a bare LF after a chunk size', bytes: '3\nabc\r\n0\r\n\r\n' },
  { name: 'a bare LF after chunk data', bytes: '3\r\nabc\n0\r\n\r\n' },
  { name: 'a NUL in a chunk extension', bytes: '3;a=\0\r\nabc\r\n0\r\n\r\n' },
  { name: 'a trailer with a space before its colon', bytes: '3\r\nabc\r\n0\r\nX-Bad : a\r\n\r\n' },
];

const get = (fields: string): string => `GET / HTTP/1.1\r\nHost: test.example\r\n${fields}\r\n`;
const post = (fields: string, body: string): string => `POST / HTTP/1.1\r\nHost: test.example\r\n${fields}\r\n${body}`;

/** Requests that are answered with 400 and a close, and reach no origin. */
export const malformedRequests: readonly Malformed[] = [
  {
    name: 'Content-Length and Transfer-Encoding together',
    bytes: post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '4\r\nabcd\r\n0\r\n\r\n'),
  },
  {
    name: 'Transfer-Encoding before Content-Length',
    bytes: post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', '0\r\n\r\n'),
  },
  { name: 'a pair of equal Content-Lengths', bytes: post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc') },
  { name: 'a pair of different Content-Lengths', bytes: post('Content-Length: 3\r\nContent-Length: 4\r\n', 'abcd') },
  { name: 'a list in one Content-Length', bytes: post('Content-Length: 3, 3\r\n', 'abc') },
  { name: 'a Content-Length with a plus sign', bytes: post('Content-Length: +3\r\n', 'abc') },
  { name: 'a negative Content-Length', bytes: post('Content-Length: -3\r\n', 'abc') },
  { name: 'a hexadecimal Content-Length', bytes: post('Content-Length: 0x3\r\n', 'abc') },
  { name: 'a Content-Length with a leading zero', bytes: post('Content-Length: 03\r\n', 'abc') },
  { name: 'an empty Content-Length', bytes: post('Content-Length: \r\n', '') },
  { name: 'an enormous Content-Length', bytes: post('Content-Length: 99999999999999999999\r\n', 'abc') },
  { name: 'a Content-Length with a space in it', bytes: post('Content-Length: 3 3\r\n', 'abc') },
  { name: 'chunked twice', bytes: post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n') },
  {
    name: 'two Transfer-Encoding fields',
    bytes: post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  },
  { name: 'chunked followed by identity', bytes: post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n') },
  { name: 'a look-alike of chunked', bytes: post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n') },
  { name: 'a vertical tab before chunked', bytes: post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n') },
  {
    name: 'a space before the colon of Transfer-Encoding',
    bytes: post('Transfer-Encoding : chunked\r\n', '0\r\n\r\n'),
  },
  { name: 'a space before the colon of Content-Length', bytes: post('Content-Length : 3\r\n', 'abc') },
  { name: 'a folded field value', bytes: get('X-Bad: a\r\n b\r\n') },
  { name: 'a folded Transfer-Encoding', bytes: post('Transfer-Encoding:\r\n chunked\r\n', '0\r\n\r\n') },
  { name: 'a first field line that begins with a space', bytes: 'GET / HTTP/1.1\r\n Host: test.example\r\n\r\n' },
  { name: 'a NUL in a field value', bytes: get('X-Bad: a\0b\r\n') },
  { name: 'a bare CR in a field value', bytes: get('X-Bad: a\rb\r\n') },
  { name: 'a bare LF that hides a field', bytes: get('X-Bad: a\nTransfer-Encoding: chunked\r\n') },
  { name: 'a control character in a field name', bytes: get('X\x01Bad: a\r\n') },
  { name: 'an empty field name', bytes: get(': a\r\n') },
  { name: 'a field line without a colon', bytes: get('X-Bad\r\n') },
  { name: 'a bare CR in the request line', bytes: 'GET /\r HTTP/1.1\r\nHost: test.example\r\n\r\n' },
  { name: 'a NUL in the target', bytes: 'GET /\0 HTTP/1.1\r\nHost: test.example\r\n\r\n' },
  { name: 'two spaces before the target', bytes: 'GET  / HTTP/1.1\r\nHost: test.example\r\n\r\n', nodeAccepts: true },
  { name: 'a lower-case protocol name', bytes: 'GET / http/1.1\r\nHost: test.example\r\n\r\n' },
  { name: 'a method with a bracket', bytes: 'GE[T / HTTP/1.1\r\nHost: test.example\r\n\r\n' },
  { name: 'a target that is no path', bytes: 'GET foo HTTP/1.1\r\nHost: test.example\r\n\r\n' },
  { name: 'a fragment in the target', bytes: 'GET /a#b HTTP/1.1\r\nHost: test.example\r\n\r\n' },
  { name: 'no Host at all', bytes: 'GET / HTTP/1.1\r\n\r\n' },
  { name: 'two Hosts', bytes: 'GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n' },
  { name: 'two equal Hosts', bytes: 'GET / HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n' },
  { name: 'an empty Host', bytes: 'GET / HTTP/1.1\r\nHost: \r\n\r\n' },
  { name: 'a Host with userinfo', bytes: 'GET / HTTP/1.1\r\nHost: user@test.example\r\n\r\n' },
  { name: 'a Host with a path', bytes: 'GET / HTTP/1.1\r\nHost: test.example/admin\r\n\r\n' },
  { name: 'a list of hosts in Host', bytes: 'GET / HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n' },
  { name: 'a Host with a port that is no number', bytes: 'GET / HTTP/1.1\r\nHost: test.example:http\r\n\r\n' },
  {
    name: 'a Host that differs from the authority of the target',
    bytes: 'GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n',
  },
  {
    name: 'userinfo in the authority of the target',
    bytes: 'GET http://user@a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n',
  },
  { name: '* with GET', bytes: 'GET * HTTP/1.1\r\nHost: test.example\r\n\r\n' },
];
