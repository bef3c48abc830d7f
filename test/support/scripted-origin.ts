import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as realWait } from 'node:timers/promises';
import { JournalRecord, matchesRequest, type Journal, type JournalRequest, type RequestFilter } from './journal.ts';
import { serveConnection, type Wait } from './origin-connection.ts';
import type { OriginScript } from './origin-script.ts';
import { createRetryEcho } from './retry-echo.ts';
import { createSignal } from './signal.ts';

export type { Behaviour, OriginScript } from './origin-script.ts';

/** A raw-socket HTTP/1.1 server that does what its script says and writes down every byte it gets. */
export interface ScriptedOrigin {
  readonly host: string;
  readonly port: number;
  /** `127.0.0.1:port` */
  readonly address: string;
  readonly journal: Journal;
  /** Requests of which at least one byte arrived, so that a request sent twice is never missed. */
  requestCount(filter?: RequestFilter): number;
  /** The n-th request (1-based) that matches. @throws Error with the journal when there is none */
  request(number?: number, filter?: RequestFilter): JournalRequest;
  /** Replaces the script; requests whose behaviour began keep it. */
  setScript(script: OriginScript): void;
  /** Lets behaviours pass a gate: those that wait there, and all that come later. */
  open(gate: string): void;
  /**
   * Resolves with the first value of `check` that is neither false nor undefined; it runs at every change of the journal.
   * @throws Error with the journal when that does not happen within `timeoutMs` (default 15 000)
   */
  waitFor<T>(check: (journal: Journal) => T | false | undefined, what?: string, timeoutMs?: number): Promise<T>;
  /** Resolves with the n-th matching request as soon as its head is there (`complete`: the whole of it). */
  waitForRequest(number?: number, filter?: RequestFilter): Promise<JournalRequest>;
  /** Resolves when the client has closed or reset every connection (whether or not a behaviour still has something to say on it). */
  waitForNoConnection(): Promise<void>;
  /** Stops listening: from now on connections are refused; those that exist go on. Idempotent. */
  stopListening(): Promise<void>;
  /** Destroys everything. Idempotent. @throws Error when a behaviour of the script failed */
  close(): Promise<void>;
}

export interface OriginOptions {
  /** Closes the origin after the test. */
  readonly t?: TestContext | undefined;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** How the delays of the script pass. Default: as real time does. */
  readonly wait?: Wait;
}

export async function startOrigin(script: OriginScript = {}, options: OriginOptions = {}): Promise<ScriptedOrigin> {
  const journal = new JournalRecord();
  const signal = createSignal();
  const gates = new Set<string>();
  const sockets = new Set<Socket>();
  const problems: unknown[] = [];
  const retryEcho = createRetryEcho();
  let current = script;

  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    const entry = journal.connection(socket.remotePort ?? 0, () => socket.bytesWritten);
    socket.once('close', () => sockets.delete(socket));
    serveConnection({
      socket,
      entry,
      journal,
      signal,
      script: () => current,
      retryEcho,
      gateOpen: (name) => gates.has(name),
      wait: options.wait ?? ((ms, closed) => realWait(ms, undefined, { signal: closed })),
      problem: (error) => problems.push(error),
    });
    signal.changed();
  });
  const host = options.host ?? '127.0.0.1';
  await listen(server, host, options.port ?? 0);
  const { port } = server.address() as AddressInfo;

  const matching = (filter: RequestFilter = {}): JournalRequest[] =>
    journal.requests.filter((one) => matchesRequest(one, filter));
  const waitFor: ScriptedOrigin['waitFor'] = (check, what = 'the origin to see something', timeoutMs) =>
    signal.until(() => check(journal), { what, describe: () => journal.dump(), timeoutMs });

  let closing: Promise<void> | undefined;
  let listening: Promise<void> | undefined;
  const origin: ScriptedOrigin = {
    host,
    port,
    address: `${host}:${port}`,
    journal,
    requestCount: (filter) => matching(filter).length,
    request(number = 1, filter) {
      const found = matching(filter)[number - 1];
      if (found === undefined) throw new Error(`the origin saw no request ${number} that matches:\n${journal.dump()}`);
      return found;
    },
    setScript(next) {
      current = next;
    },
    open(gate) {
      gates.add(gate);
      signal.changed();
    },
    waitFor,
    waitForRequest(number = 1, filter) {
      return waitFor(() => matching(filter).filter((one) => one.headComplete)[number - 1], `request ${number}`);
    },
    async waitForNoConnection() {
      await waitFor(
        ({ connections }) =>
          connections.every((one) => (one.finByClientAtMs ?? one.resetByClientAtMs ?? one.closedAtMs) !== undefined),
        'the client to end its last connection',
      );
    },
    stopListening() {
      // `close` calls back only when the last connection is gone; the port is free at once.
      listening ??= new Promise((resolve) => server.close(() => resolve()));
      return Promise.resolve();
    },
    close() {
      closing ??= (async () => {
        void origin.stopListening();
        for (const socket of sockets) socket.destroy();
        await listening;
        signal.changed();
        if (problems.length > 0) throw new AggregateError(problems, 'a behaviour of the scripted origin failed');
      })();
      return closing;
    },
  };
  options.t?.after(() => origin.close());
  return origin;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
