import { connect } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { TestContext } from 'node:test';

export interface Http2Answer {
  /** 0 when none came. */
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  readonly text: string;
  readonly trailers: Readonly<Record<string, unknown>>;
  /** Statuses of the interim responses. */
  readonly interim: readonly number[];
  /** With which the stream ended; 0 for a proper end. */
  readonly resetCode: number;
}

export interface Http2Question {
  readonly method?: string;
  readonly path?: string;
  readonly fields?: OutgoingHttpHeaders;
  readonly body?: Uint8Array | string | undefined;
  readonly trailers?: Readonly<Record<string, string>> | undefined;
}

/** Node's own HTTP/2 client; an encrypted one when `ca` says who signs. */
export function connectHttp2(
  port: number,
  options: { readonly t: TestContext; readonly ca?: string; readonly cert?: string; readonly key?: string },
): ClientHttp2Session {
  const { t, ...tls } = options;
  const session =
    tls.ca === undefined
      ? connect(`http://127.0.0.1:${port}`)
      : connect(`https://localhost:${port}`, { host: '127.0.0.1', ...tls } as object);
  session.on('error', () => {});
  t.after(() => session.destroy());
  return session;
}

/** One request, whole. Resolves when its stream is closed, however it ended. */
export function ask(session: ClientHttp2Session, question: Http2Question = {}): Promise<Http2Answer> {
  return answerOf(begin(session, question));
}

/** A request that is sent as far as `question` says; a body is ended. */
export function begin(session: ClientHttp2Session, question: Http2Question = {}): ClientHttp2Stream {
  const { method = 'GET', path = '/', fields = {}, body, trailers } = question;
  const stream = session.request(
    { ...fields, ':method': method, ':path': path },
    { endStream: body === undefined, waitForTrailers: trailers !== undefined },
  );
  stream.on('error', () => {});
  if (trailers !== undefined) stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  if (body !== undefined) stream.end(body);
  return stream;
}

export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const pieces: Buffer[] = [];
  const interim: number[] = [];
  let fields: Record<string, unknown> = {};
  let trailers: Record<string, unknown> = {};
  stream.on('headers', (head) => void interim.push(Number(head[':status'])));
  stream.on('response', (head) => {
    fields = { ...head };
  });
  stream.on('trailers', (head) => {
    trailers = { ...head };
  });
  stream.on('data', (piece: Buffer) => void pieces.push(piece));
  return new Promise((resolve) => {
    stream.on('close', () => {
      const body = Buffer.concat(pieces);
      const status = Number(fields[':status'] ?? 0);
      const resetCode = stream.rstCode ?? 0;
      resolve({ status, fields, body, text: body.toString('latin1'), trailers, interim, resetCode });
    });
  });
}
