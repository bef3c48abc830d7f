import { connect as connectSession } from 'node:http2';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { createSignal } from '../support/signal.ts';
import type { Asking, Heard, WireClient } from './asking.ts';
import { patienceMs } from './asking.ts';

/** CANCEL of RFC 9113 §7. */
const cancel = 8;

class HeardStream implements Heard {
  readonly interim: number[] = [];
  readonly #chunks: Buffer[] = [];
  head: IncomingHttpHeaders = {};
  trailers: readonly string[] = [];
  ending: Heard['ending'];
  readonly fault = undefined;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }
  get status(): number {
    return Number(this.head[':status'] ?? 0);
  }
  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
  get bodyBytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }
  values(name: string): readonly string[] {
    const value = this.head[name.toLowerCase()];
    return value === undefined ? [] : [value].flat();
  }
}

/** A client that knows beforehand that HTTP/2 is spoken: Node's own. */
export async function connectHttp2(port: number): Promise<WireClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => {});
  const session = connectSession(`http://127.0.0.1:${port}`, {
    createConnection: () => socket,
    // Node counts what it has still to send, and refuses answers over the limit (10 MB by default).
    maxSessionMemory: 64,
  });
  session.on('error', () => {});
  const signal = createSignal();
  await new Promise((resolve) => session.once('connect', resolve));
  let heard = new HeardStream();
  let stream: ClientHttp2Stream | undefined;
  let asked: Asking | undefined;
  let sentBytes = 0;

  const sendUpTo = (bytes: number): void => {
    const { body, trailers } = asked!;
    if (body === undefined || stream === undefined) return;
    const part = body.subarray(sentBytes, bytes);
    sentBytes += part.length;
    if (part.length > 0) stream.write(part);
    if (sentBytes < body.length) return;
    if (trailers !== undefined) stream.once('wantTrailers', () => stream?.sendTrailers({ ...trailers }));
    stream.end();
  };
  return {
    ask(asking, bodyBytes) {
      asked = asking;
      sentBytes = 0;
      heard = new HeardStream();
      stream = session.request(headOf(asking), {
        endStream: asking.body === undefined,
        waitForTrailers: asking.trailers !== undefined,
      });
      listen(stream, heard, asking.method === 'HEAD', () => signal.changed());
      sendUpTo(bodyBytes);
    },
    sendRest: () => sendUpTo(Infinity),
    raw() {
      throw new Error('raw bytes are for HTTP/1.1');
    },
    get heard() {
      return heard;
    },
    leave(how) {
      // `reset` is the stream alone, `close` is the connection with everything on it.
      if (how === 'reset') stream?.close(cancel);
      else socket.destroy();
    },
    halfClose: () => void socket.end(),
    stopReading: () => void stream?.pause(),
    readOn: () => void stream?.resume(),
    waitFor: async (check, what) => {
      await signal.until(check, {
        what,
        timeoutMs: patienceMs,
        describe: () => `status ${String(heard.status)}, ${String(heard.bodyBytes)} body bytes`,
      });
    },
    close() {
      session.destroy();
      socket.destroy();
    },
  };
}

function headOf({ method, path, fields, body, trailers }: Asking): Record<string, string> {
  const named = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
  const length = body === undefined || trailers !== undefined ? {} : { 'content-length': String(body.length) };
  return { ':method': method, ':path': path, ':authority': 'test.example', ...length, ...named };
}

function listen(stream: ClientHttp2Stream, heard: HeardStream, isHead: boolean, changed: () => void): void {
  stream.on('error', () => {});
  stream.on('headers', (head) => {
    heard.interim.push(Number(head[':status']));
    changed();
  });
  stream.on('response', (head) => {
    heard.head = head;
    changed();
  });
  stream.on('trailers', (fields) => {
    heard.trailers = Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
  });
  stream.on('data', (chunk: Buffer) => {
    heard.add(chunk);
    changed();
  });
  let isEnded = false;
  const finish = (): void => {
    // An answer that is whole before its request is may be followed by a reset that says NO_ERROR (RFC 9113 §8.1).
    const isWhole = isEnded && (stream.rstCode ?? 0) === 0 && (isHead || !isShort(heard));
    heard.ending = heard.status === 0 ? 'none' : isWhole ? 'whole' : 'cut';
    changed();
  };
  stream.on('end', () => {
    isEnded = true;
    // A request that is not sent to its end keeps the stream open.
    if (heard.status !== 0 && (stream.rstCode ?? 0) === 0) finish();
  });
  stream.on('close', finish);
}

function isShort({ head, bodyBytes }: HeardStream): boolean {
  const length = head['content-length'];
  return length !== undefined && bodyBytes < Number(length);
}
