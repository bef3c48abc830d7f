import { createHash } from 'node:crypto';
import { createServer } from 'node:http2';
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Wait } from '../support/origin-connection.ts';
import { createSignal } from '../support/signal.ts';
import { end, play } from './http2-words.ts';
import type { OriginPlan } from './scenario.ts';
import type { Seen, Target } from './target.ts';
import { inOrder, warmPath } from './target.ts';

/** NO_ERROR of RFC 9113 §7. */
const noError = 0;

class SeenStream implements Seen {
  readonly attempt: string | undefined;
  readonly key: string | undefined;
  readonly fault = undefined;
  readonly #hash = createHash('sha256');
  complete = false;
  isLeft = false;
  bodyBytes = 0;
  trailers: readonly string[] = [];

  constructor(head: IncomingHttpHeaders) {
    this.attempt = head['request-attempt'] as string | undefined;
    this.key = head['idempotency-key'] as string | undefined;
  }

  get bodySha256(): string {
    return this.#hash.copy().digest('hex');
  }

  add(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    this.#hash.update(chunk);
  }
}

/** An origin that says over HTTP/2 what a script of the HTTP/1.1 origin says, as far as both protocols know it. */
export async function startHttp2Target(
  plan: Extract<OriginPlan, { kind: 'server' }>,
  wait: Wait,
  server: Http2Server = createServer(
    plan.maxStreams === undefined ? {} : { settings: { maxConcurrentStreams: plan.maxStreams } },
  ),
): Promise<Target> {
  const signal = createSignal();
  const gates = new Set<string>();
  const seen: SeenStream[] = [];
  const sockets = new Map<Socket, { left: boolean }>();
  const next = inOrder(plan.says);
  let latest: Socket | undefined;

  // Before the server's own listener, which makes the session.
  server.prependListener('connection', (socket: Socket) => {
    latest = socket;
    const state = { left: false };
    sockets.set(socket, state);
    const leave = (): void => {
      state.left = true;
      signal.changed();
    };
    socket.on('end', leave).on('error', leave).on('close', leave);
    greet(socket, plan);
  });
  server.on('session', (session: ServerHttp2Session) => {
    const socket = latest!;
    session.on('error', () => {});
    session.on('goaway', () => {});
    session.on('stream', (stream, head) => serve(stream, head, socket));
  });
  const serve = (stream: ServerHttp2Stream, head: IncomingHttpHeaders, socket: Socket): void => {
    stream.on('error', () => {});
    if (head[':path'] === warmPath) {
      stream.resume();
      stream.respond({ ':status': 200 }, { endStream: true });
      if (plan.afterWarm === 'close') stream.on('close', () => stream.session?.close());
      return;
    }
    const entry = new SeenStream(head);
    seen.push(entry);
    const abort = new AbortController();
    stream.on('data', (chunk: Buffer) => {
      entry.add(chunk);
      signal.changed();
    });
    stream.on('trailers', (fields) => {
      entry.trailers = Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
    });
    stream.on('end', () => {
      // A stream that was reset ends, too.
      entry.complete = stream.rstCode === noError && !stream.aborted;
      signal.changed();
    });
    stream.on('aborted', () => {
      entry.isLeft = true;
    });
    stream.on('close', () => {
      abort.abort(new Error('the stream is closed'));
      signal.changed();
    });
    const isHead = head[':method'] === 'HEAD';
    const isOpen = (name: string): boolean => gates.has(name);
    play({ stream, isHead, seen: entry, socket, signal, closed: abort.signal, wait, isOpen }, next()).catch(
      (error: unknown) => {
        if (!abort.signal.aborted && !socket.destroyed) throw error;
      },
    );
    signal.changed();
  };
  await new Promise<void>((resolve) => (server as Server).listen(0, '127.0.0.1', resolve));

  return {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    get openCount() {
      return [...sockets.values()].filter(({ left }) => !left).length;
    },
    openGate(name) {
      gates.add(name);
      signal.changed();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets.keys()) socket.destroy();
      await closed;
      signal.changed();
    },
  };
}

function greet(socket: Socket, { connections = 'serve' }: Extract<OriginPlan, { kind: 'server' }>): void {
  if (connections === 'serve' || connections === 'hang') return;
  if (connections === 'close' || connections === 'reset' || connections === 'destroy') end(socket, connections);
  else throw new Error(`an HTTP/2 origin cannot do ${JSON.stringify(connections)}`);
}
