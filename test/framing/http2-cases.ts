import {
  ack,
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  number32,
  preface,
} from '../support/http2-frames.ts';

const { data, headers, priority, resetStream, settings, ping, goaway, windowUpdate, continuation } = frameTypes;
const pushPromise = 5;
const padded = 0x8;
const hasPriority = 0x20;
const nothing = Buffer.alloc(0);

/** Frames that end the connection, whoever sends them. */
export interface FrameCase {
  /** With the section of RFC 9113, or 7541 for HPACK. */
  readonly name: string;
  /** What is sent after the connection has been set up. */
  readonly frames: readonly Buffer[];
}

function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([id >> 8, id & 255]), number32(value)]);
}

/** What is wrong on the connection as a whole, and says nothing of a stream: from a client and from a server alike. */
export const connectionFaults: readonly FrameCase[] = [
  { name: '§4.2: SETTINGS of 5 octets', frames: [frame(settings, 0, 0, Buffer.alloc(5))] },
  { name: '§4.2: a frame larger than SETTINGS_MAX_FRAME_SIZE', frames: [frame(ping, 0, 0, Buffer.alloc(16_385))] },
  {
    name: '§4.2: an unknown frame larger than SETTINGS_MAX_FRAME_SIZE',
    frames: [frame(0xbe, 0, 0, Buffer.alloc(20_000))],
  },
  { name: '§6.1: DATA on stream 0', frames: [frame(data, endStream, 0, Buffer.from('x'))] },
  { name: '§6.2: HEADERS on stream 0', frames: [frame(headers, endHeaders | endStream, 0, nothing)] },
  { name: '§6.4: RST_STREAM on stream 0', frames: [frame(resetStream, 0, 0, number32(8))] },
  { name: '§6.5: SETTINGS on a stream', frames: [frame(settings, 0, 1, nothing)] },
  { name: '§6.5: an acknowledgement of SETTINGS with content', frames: [frame(settings, ack, 0, setting(3, 1))] },
  { name: '§6.5: SETTINGS of 7 octets', frames: [frame(settings, 0, 0, Buffer.alloc(7))] },
  { name: '§6.5.2: SETTINGS_ENABLE_PUSH of 2', frames: [frame(settings, 0, 0, setting(2, 2))] },
  { name: '§6.5.2: SETTINGS_INITIAL_WINDOW_SIZE of 2^31', frames: [frame(settings, 0, 0, setting(4, 2 ** 31))] },
  {
    name: '§6.5.2: SETTINGS_INITIAL_WINDOW_SIZE of 2^32 − 1',
    frames: [frame(settings, 0, 0, setting(4, 2 ** 32 - 1))],
  },
  { name: '§6.5.2: SETTINGS_MAX_FRAME_SIZE of 0', frames: [frame(settings, 0, 0, setting(5, 0))] },
  { name: '§6.5.2: SETTINGS_MAX_FRAME_SIZE of 16 383', frames: [frame(settings, 0, 0, setting(5, 16_383))] },
  { name: '§6.5.2: SETTINGS_MAX_FRAME_SIZE of 2^24', frames: [frame(settings, 0, 0, setting(5, 2 ** 24))] },
  { name: '§6.7: PING on a stream', frames: [frame(ping, 0, 1, Buffer.alloc(8))] },
  { name: '§6.7: PING of 7 octets', frames: [frame(ping, 0, 0, Buffer.alloc(7))] },
  { name: '§6.7: PING of 9 octets', frames: [frame(ping, 0, 0, Buffer.alloc(9))] },
  { name: '§6.7: PING without content', frames: [frame(ping, 0, 0)] },
  { name: '§6.8: GOAWAY on a stream', frames: [frame(goaway, 0, 1, Buffer.alloc(8))] },
  { name: '§6.8: GOAWAY of 4 octets', frames: [frame(goaway, 0, 0, Buffer.alloc(4))] },
  { name: '§6.9: WINDOW_UPDATE of 3 octets on stream 0', frames: [frame(windowUpdate, 0, 0, Buffer.alloc(3))] },
  { name: '§6.9: WINDOW_UPDATE of 5 octets on stream 0', frames: [frame(windowUpdate, 0, 0, Buffer.alloc(5))] },
  { name: '§6.9: WINDOW_UPDATE by 0 on the connection', frames: [frame(windowUpdate, 0, 0, number32(0))] },
  {
    name: '§6.9.1: a window of the connection beyond 2^31 − 1',
    frames: [frame(windowUpdate, 0, 0, number32(2 ** 31 - 1)), frame(windowUpdate, 0, 0, number32(2 ** 31 - 1))],
  },
  { name: '§6.10: CONTINUATION on stream 0', frames: [frame(continuation, endHeaders, 0, nothing)] },
  { name: '§6.10: CONTINUATION without HEADERS', frames: [frame(continuation, endHeaders, 1, nothing)] },
  {
    name: '§6.2: HEADERS that are all padding',
    frames: [frame(headers, endHeaders | padded, 1, Buffer.from([5, 0, 0]))],
  },
  { name: '§6.2: padded HEADERS without content', frames: [frame(headers, endHeaders | padded, 1, nothing)] },
  {
    name: '§6.2: HEADERS with a priority of 3 octets',
    frames: [frame(headers, endHeaders | hasPriority, 1, Buffer.alloc(3))],
  },
  {
    name: '§4.3: a header block that ends within a field',
    frames: [frame(headers, endHeaders | endStream, 1, Buffer.from([0, 5, 0x78]))],
  },
  {
    name: 'RFC 7541 §2.3.3: an index beyond both tables',
    frames: [frame(headers, endHeaders | endStream, 1, Buffer.from([0xff, 0x7f]))],
  },
  { name: 'RFC 7541 §6.1: index 0', frames: [frame(headers, endHeaders | endStream, 1, Buffer.from([0x80]))] },
  {
    name: 'RFC 7541 §5.1: an integer without end',
    frames: [frame(headers, endHeaders | endStream, 1, Buffer.alloc(20, 0xff))],
  },
  {
    name: 'RFC 7541 §5.2: a Huffman code of EOS',
    frames: [frame(headers, endHeaders | endStream, 1, Buffer.from([0, 0x84, 0xff, 0xff, 0xff, 0xff, 1, 0x61]))],
  },
  {
    name: 'RFC 7541 §5.2: Huffman padding of zeros',
    frames: [frame(headers, endHeaders | endStream, 1, Buffer.from([0, 0x81, 0x00, 1, 0x61]))],
  },
  {
    name: 'RFC 7541 §6.3: a table larger than was allowed',
    frames: [frame(headers, endHeaders | endStream, 1, Buffer.from([0x3f, 0xff, 0xff, 0x03]))],
  },
  {
    name: 'RFC 7541 §4.2: a change of the table behind a field',
    frames: [frame(headers, endHeaders | endStream, 1, Buffer.concat([fieldBlock([['a', 'b']]), Buffer.from([0x20])]))],
  },
];

/** A header block that is cut into frames wrongly; `block` is a whole one of a request or a response. */
export function interruptedBlocks(block: Buffer): readonly FrameCase[] {
  const begin = frame(headers, endStream, 1, block.subarray(0, 4));
  const rest = block.subarray(4);
  return [
    { name: '§6.10: DATA within a header block', frames: [begin, frame(data, 0, 1, Buffer.from('x'))] },
    { name: '§6.10: HEADERS within a header block', frames: [begin, frame(headers, endHeaders, 1, rest)] },
    {
      name: '§6.10: HEADERS of another stream within a header block',
      frames: [begin, frame(headers, endHeaders, 3, block)],
    },
    {
      name: '§6.10: CONTINUATION of another stream within a header block',
      frames: [begin, frame(continuation, endHeaders, 3, rest)],
    },
    { name: '§6.10: PING within a header block', frames: [begin, frame(ping, 0, 0, Buffer.alloc(8))] },
    { name: '§6.10: SETTINGS within a header block', frames: [begin, frame(settings, 0, 0)] },
    { name: '§6.10: WINDOW_UPDATE within a header block', frames: [begin, frame(windowUpdate, 0, 1, number32(1))] },
    { name: '§6.10: RST_STREAM within a header block', frames: [begin, frame(resetStream, 0, 1, number32(8))] },
    { name: '§6.10: PRIORITY within a header block', frames: [begin, frame(priority, 0, 1, Buffer.alloc(5))] },
    { name: '§6.10: an unknown frame within a header block', frames: [begin, frame(0xbe, 0, 1, nothing)] },
  ];
}

/** What only a client can do wrong. `block` is a whole request. */
export function clientFaults(block: Buffer): readonly FrameCase[] {
  const get = (id: number): Buffer => frame(headers, endHeaders | endStream, id, block);
  return [
    { name: '§3.4: another preface', frames: [Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n')] },
    { name: '§5.1: DATA on a stream that was never opened', frames: [frame(data, endStream, 1, Buffer.from('x'))] },
    { name: '§5.1: RST_STREAM on a stream that was never opened', frames: [frame(resetStream, 0, 1, number32(8))] },
    { name: '§5.1: WINDOW_UPDATE on a stream that was never opened', frames: [frame(windowUpdate, 0, 1, number32(1))] },
    { name: '§5.1.1: a stream of an even number', frames: [get(2)] },
    {
      name: '§8.4: PUSH_PROMISE of a client',
      frames: [get(1), frame(pushPromise, endHeaders, 1, Buffer.concat([number32(2), block]))],
    },
    {
      name: '§6.6: PUSH_PROMISE on stream 0',
      frames: [frame(pushPromise, endHeaders, 0, Buffer.concat([number32(2), block]))],
    },
    {
      name: '§6.1: DATA that is all padding',
      frames: [frame(headers, endHeaders, 1, block), frame(data, padded, 1, Buffer.from([9, 0]))],
    },
    {
      name: '§6.1: padded DATA without content',
      frames: [frame(headers, endHeaders, 1, block), frame(data, padded, 1)],
    },
    {
      name: '§6.4: RST_STREAM of 3 octets',
      frames: [frame(headers, endHeaders, 1, block), frame(resetStream, 0, 1, Buffer.alloc(3))],
    },
    {
      name: '§6.4: RST_STREAM of 5 octets',
      frames: [frame(headers, endHeaders, 1, block), frame(resetStream, 0, 1, Buffer.alloc(5))],
    },
    {
      name: '§6.9: WINDOW_UPDATE of 3 octets on a stream',
      frames: [frame(headers, endHeaders, 1, block), frame(windowUpdate, 0, 1, Buffer.alloc(3))],
    },
    { name: '§5.1: HEADERS behind the end of a stream', frames: [get(1), get(1)] },
    { name: '§5.1: DATA behind the end of a stream', frames: [get(1), frame(data, endStream, 1, Buffer.from('x'))] },
    { name: '§5.1: a preface in the middle', frames: [preface] },
  ];
}

/** What only concerns one stream; the next stream is served. `block` is a whole request. */
export function streamFaults(block: Buffer): readonly FrameCase[] {
  const open = frame(headers, endHeaders, 1, block);
  const withLength = (length: string): Buffer =>
    frame(headers, endHeaders, 1, Buffer.concat([block, fieldBlock([['content-length', length]])]));
  const trailer = (fields: readonly (readonly [string, string])[], flags = endHeaders | endStream): Buffer =>
    frame(headers, flags, 1, fieldBlock(fields));
  return [
    { name: '§6.9: WINDOW_UPDATE by 0 on a stream', frames: [open, frame(windowUpdate, 0, 1, number32(0))] },
    {
      name: '§6.9.1: a window of a stream beyond 2^31 − 1',
      frames: [open, frame(windowUpdate, 0, 1, number32(2 ** 31 - 1))],
    },
    { name: '§8.1: trailers that do not end the stream', frames: [open, trailer([['x-sum', '1']], endHeaders)] },
    { name: '§8.1: a pseudo-header field in trailers', frames: [open, trailer([[':path', '/x']])] },
    { name: '§8.1: a status in trailers', frames: [open, trailer([[':status', '200']])] },
    { name: '§8.2.1: an upper-case name in trailers', frames: [open, trailer([['X-Sum', '1']])] },
    { name: '§8.2.2: Transfer-Encoding in trailers', frames: [open, trailer([['transfer-encoding', 'chunked']])] },
    { name: '§8.2.2: Connection in trailers', frames: [open, trailer([['connection', 'close']])] },
    {
      name: '§8.1.1: less content than Content-Length',
      frames: [withLength('5'), frame(data, endStream, 1, Buffer.from('abc'))],
    },
    { name: '§8.1.1: no content for a Content-Length', frames: [withLength('5'), frame(data, endStream, 1)] },
    {
      name: '§8.1.1: trailers before all of the content',
      frames: [withLength('5'), frame(data, 0, 1, Buffer.from('abc')), trailer([['x-sum', '1']])],
    },
  ];
}

/**
 * What the session leaves out without a word, where the RFC asks for an error: streams that were passed over, priorities,
 * and fields that it cannot read. It must be as if it had never been sent.
 */
export function passedOver(block: Buffer): readonly FrameCase[] {
  const get = (id: number): Buffer => frame(headers, endHeaders | endStream, id, block);
  return [
    { name: '§6.3: PRIORITY on stream 0', frames: [frame(priority, 0, 0, Buffer.alloc(5)), get(1)] },
    { name: '§5.1.1: a stream of a lower number than the last', frames: [get(5), get(3)] },
    {
      name: '§5.1.1: DATA on a stream that was passed over',
      frames: [get(5), frame(data, endStream, 3, Buffer.from('x'))],
    },
    {
      name: '§8.2.1: CR LF in a value of trailers',
      frames: [
        frame(headers, endHeaders, 1, block),
        frame(headers, endHeaders | endStream, 1, fieldBlock([['x-sum', 'a\r\nx-evil: c']])),
      ],
    },
    { name: '§5.5: a frame of an unknown type', frames: [frame(0xbe, 0xff, 0, Buffer.from('x')), get(1)] },
    { name: '§6.5.2: an unknown setting', frames: [frame(settings, 0, 0, setting(0xbe, 1)), get(1)] },
  ];
}

/** Answers on stream 1 that are no answer; the connection may go on. */
export function answerFaults(): readonly FrameCase[] {
  const head = (fields: readonly (readonly [string, string])[], flags = endHeaders | endStream): Buffer =>
    frame(headers, flags, 1, fieldBlock(fields));
  const ok = [':status', '200'] as const;
  const open = head([ok], endHeaders);
  const text = (content: string, flags = endStream): Buffer => frame(data, flags, 1, Buffer.from(content));
  const one = (name: string, fields: readonly (readonly [string, string])[]): FrameCase => ({
    name,
    frames: [head(fields)],
  });
  return [
    one('§8.3.2: no status', [['x', 'y']]),
    one('§8.3.2: two statuses', [ok, ok]),
    one('§8.3: a status behind a field', [['x', 'y'], ok]),
    one('§8.3: a path in an answer', [ok, [':path', '/']]),
    one('§8.3: an unknown pseudo-header field', [ok, [':reason', 'OK']]),
    one('RFC 9110 §15: status 099', [[':status', '099']]),
    one('RFC 9110 §15: status 600', [[':status', '600']]),
    one('RFC 9110 §15: a status of four digits', [[':status', '2000']]),
    one('RFC 9110 §15: a status of two digits', [[':status', '20']]),
    one('RFC 9110 §15: a status that is no number', [[':status', 'ok']]),
    one('RFC 9110 §15: an empty status', [[':status', '']]),
    one('§8.6: status 101', [[':status', '101']]),
    one('§8.1: an interim answer that ends the stream', [[':status', '103']]),
    one('§8.2.2: Transfer-Encoding', [ok, ['transfer-encoding', 'chunked']]),
    one('§8.2.2: Connection', [ok, ['connection', 'close']]),
    one('§8.2.2: Keep-Alive', [ok, ['keep-alive', 'timeout=5']]),
    one('§8.2.2: Proxy-Connection', [ok, ['proxy-connection', 'close']]),
    one('§8.2.2: Upgrade', [ok, ['upgrade', 'h2c']]),
    one('§8.2.1: an upper-case name', [ok, ['X-Upper', 'y']]),
    one('RFC 9110 §8.6: a length that is no number', [ok, ['content-length', 'x']]),
    one('RFC 9110 §8.6: a negative length', [ok, ['content-length', '-1']]),
    one('RFC 9112 §6.3: two different lengths', [ok, ['content-length', '1'], ['content-length', '2']]),
    one('§8.1.1: no content for a Content-Length', [ok, ['content-length', '5']]),
    {
      name: '§8.1.1: more content than Content-Length',
      frames: [head([ok, ['content-length', '2']], endHeaders), text('hello')],
    },
    {
      name: '§8.1.1: less content than Content-Length',
      frames: [head([ok, ['content-length', '9']], endHeaders), text('hello')],
    },
    { name: '§8.1: DATA before any HEADERS', frames: [text('hello')] },
    { name: '§8.1: trailers that do not end the stream', frames: [open, head([['x-sum', '1']], endHeaders)] },
    { name: '§8.1: a status in trailers', frames: [open, head([[':status', '200']])] },
    { name: '§8.2.2: Connection in trailers', frames: [open, head([['connection', 'close']])] },
    { name: '§8.1: content of an interim answer', frames: [head([[':status', '103']], endHeaders), text('hello')] },
    { name: '§6.9: WINDOW_UPDATE by 0 on the stream', frames: [open, frame(windowUpdate, 0, 1, number32(0))] },
    {
      name: '§6.9.1: a window of the stream beyond 2^31 − 1',
      frames: [open, frame(windowUpdate, 0, 1, number32(2 ** 31 - 1))],
    },
  ];
}

/** What only a server can do wrong. `block` is a whole answer. */
export function serverFaults(block: Buffer): readonly FrameCase[] {
  return [
    {
      name: '§8.4: PUSH_PROMISE to a client that wants none',
      frames: [frame(pushPromise, endHeaders, 1, Buffer.concat([number32(2), block]))],
    },
    {
      name: '§5.1.1: HEADERS on a stream that only we may open',
      frames: [frame(headers, endHeaders | endStream, 99, block)],
    },
    {
      name: '§5.1.1: HEADERS on a stream that was not promised',
      frames: [frame(headers, endHeaders | endStream, 2, block)],
    },
    { name: '§5.1: DATA on a stream that was never opened', frames: [frame(data, endStream, 99, Buffer.from('x'))] },
    { name: '§5.1: RST_STREAM on a stream that was never opened', frames: [frame(resetStream, 0, 99, number32(8))] },
    {
      name: '§5.1: WINDOW_UPDATE on a stream that was never opened',
      frames: [frame(windowUpdate, 0, 99, number32(1))],
    },
    { name: '§6.4: RST_STREAM of 3 octets', frames: [frame(resetStream, 0, 1, Buffer.alloc(3))] },
    {
      name: '§6.1: DATA that is all padding',
      frames: [frame(headers, endHeaders, 1, block), frame(data, padded, 1, Buffer.from([9, 0]))],
    },
    { name: '§6.5.2: SETTINGS_ENABLE_PUSH of 1 from a server', frames: [frame(settings, 0, 0, setting(2, 1))] },
    { name: 'no HTTP/2 at all', frames: [Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')] },
  ];
}
