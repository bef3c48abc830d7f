import { createHash, type Hash } from 'node:crypto';
import { fieldValues } from './fields.ts';

/** What an origin saw of one request. Everything is filled in as it arrives; a request seen partly stays incomplete. */
export interface JournalRequest {
  /** 1-based, over all connections, in the order of first bytes. */
  readonly number: number;
  /** Number of the connection, 1-based. */
  readonly connection: number;
  /** 1-based on its connection. */
  readonly requestOnConnection: number;
  /** Empty until the request line arrived. */
  readonly method: string;
  readonly target: string;
  /** `HTTP/1.1` */
  readonly version: string;
  /** Flat, in order, names as received. */
  readonly fields: readonly string[];
  /** All values of one field; the name in any case. */
  values(name: string): string[];
  /** The first value of one field. */
  value(name: string): string | undefined;
  readonly framing: 'none' | 'length' | 'chunked';
  /** Bytes of the body without its framing. */
  readonly bodyBytes: number;
  /** Of the body bytes so far. */
  readonly bodySha256: string;
  /** The first MiB of the body. */
  readonly body: Buffer;
  readonly trailers: readonly string[];
  readonly headComplete: boolean;
  readonly complete: boolean;
  /** What made the bytes illegal HTTP, if anything did. */
  readonly fault: string | undefined;
  /** It began before the answer to the one before it had been sent. */
  readonly pipelined: boolean;
  /** Milliseconds since the origin started: first byte, whole head, whole request, end of the answer. */
  readonly atMs: number;
  readonly headAtMs: number | undefined;
  readonly completeAtMs: number | undefined;
  readonly answeredAtMs: number | undefined;
  /** The client ended or reset the connection before the answer was complete. */
  readonly closedByClientAtMs: number | undefined;
}

export interface JournalConnection {
  readonly number: number;
  readonly openedAtMs: number;
  readonly remotePort: number;
  readonly requestCount: number;
  readonly bytesReceived: number;
  /** Bytes of answers that were handed to the operating system, or wait for it. */
  readonly bytesSent: number;
  /** Every byte that arrived, up to 4 MiB. */
  readonly received: Buffer;
  /** The client's FIN. */
  readonly finByClientAtMs: number | undefined;
  readonly resetByClientAtMs: number | undefined;
  /** The script ended it (FIN, RST, or no more reading). */
  readonly endedByOriginAtMs: number | undefined;
  /** Nothing of the connection is left on this side. */
  readonly closedAtMs: number | undefined;
}

export interface Journal {
  readonly connections: readonly JournalConnection[];
  readonly requests: readonly JournalRequest[];
  /** One line a connection and a request, for people. */
  dump(): string;
}

export interface RequestFilter {
  readonly method?: string;
  /** The exact target, or a pattern for it. */
  readonly target?: string | RegExp;
  readonly complete?: boolean;
  readonly connection?: number;
}

export function matchesRequest(request: JournalRequest, filter: RequestFilter): boolean {
  if (filter.method !== undefined && request.method !== filter.method) return false;
  if (typeof filter.target === 'string' && request.target !== filter.target) return false;
  if (filter.target instanceof RegExp && !filter.target.test(request.target)) return false;
  if (filter.complete !== undefined && request.complete !== filter.complete) return false;
  return filter.connection === undefined || request.connection === filter.connection;
}

const keptBodyBytes = 1024 * 1024;
const keptConnectionBytes = 4 * 1024 * 1024;

/** Keeps the first bytes of a stream, and counts and hashes all of them. */
class ByteRecord {
  count = 0;
  readonly #limit: number;
  readonly #hash: Hash = createHash('sha256');
  #kept: Buffer[] = [];
  #keptBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.count += chunk.length;
    this.#hash.update(chunk);
    const part = chunk.subarray(0, this.#limit - this.#keptBytes);
    if (part.length === 0) return;
    this.#kept.push(Buffer.from(part));
    this.#keptBytes += part.length;
  }

  bytes(): Buffer {
    if (this.#kept.length > 1) this.#kept = [Buffer.concat(this.#kept)];
    return this.#kept[0] ?? Buffer.alloc(0);
  }

  sha256(): string {
    return this.#hash.copy().digest('hex');
  }
}

/** The writable side of a `JournalRequest`; only the origin holds it. */
export class RequestEntry implements JournalRequest {
  readonly number: number;
  readonly connection: number;
  readonly requestOnConnection: number;
  readonly pipelined: boolean;
  readonly atMs: number;
  readonly bytes: ByteRecord = new ByteRecord(keptBodyBytes);
  method = '';
  target = '';
  version = '';
  fields: readonly string[] = [];
  framing: 'none' | 'length' | 'chunked' = 'none';
  trailers: readonly string[] = [];
  fault: string | undefined;
  headAtMs: number | undefined;
  completeAtMs: number | undefined;
  answeredAtMs: number | undefined;
  closedByClientAtMs: number | undefined;

  constructor(number: number, connection: ConnectionEntry, pipelined: boolean, atMs: number) {
    this.number = number;
    this.connection = connection.number;
    this.requestOnConnection = connection.requestCount;
    this.pipelined = pipelined;
    this.atMs = atMs;
  }

  get bodyBytes(): number {
    return this.bytes.count;
  }
  get body(): Buffer {
    return this.bytes.bytes();
  }
  get bodySha256(): string {
    return this.bytes.sha256();
  }
  get headComplete(): boolean {
    return this.headAtMs !== undefined;
  }
  get complete(): boolean {
    return this.completeAtMs !== undefined;
  }
  values(name: string): string[] {
    return fieldValues(this.fields, name);
  }
  value(name: string): string | undefined {
    return this.values(name)[0];
  }
}

export class ConnectionEntry implements JournalConnection {
  readonly number: number;
  readonly openedAtMs: number;
  readonly remotePort: number;
  readonly bytes: ByteRecord = new ByteRecord(keptConnectionBytes);
  requestCount = 0;
  finByClientAtMs: number | undefined;
  resetByClientAtMs: number | undefined;
  endedByOriginAtMs: number | undefined;
  closedAtMs: number | undefined;

  readonly #bytesSent: () => number;

  constructor(number: number, remotePort: number, openedAtMs: number, bytesSent: () => number) {
    this.#bytesSent = bytesSent;
    this.number = number;
    this.remotePort = remotePort;
    this.openedAtMs = openedAtMs;
  }

  get bytesReceived(): number {
    return this.bytes.count;
  }
  get bytesSent(): number {
    return this.#bytesSent();
  }
  get received(): Buffer {
    return this.bytes.bytes();
  }
}

export class JournalRecord implements Journal {
  readonly connections: ConnectionEntry[] = [];
  readonly requests: RequestEntry[] = [];
  readonly #startMs = performance.now();

  nowMs(): number {
    return performance.now() - this.#startMs;
  }

  connection(remotePort: number, bytesSent: () => number): ConnectionEntry {
    const entry = new ConnectionEntry(this.connections.length + 1, remotePort, this.nowMs(), bytesSent);
    this.connections.push(entry);
    return entry;
  }

  request(connection: ConnectionEntry, pipelined: boolean): RequestEntry {
    connection.requestCount++;
    const entry = new RequestEntry(this.requests.length + 1, connection, pipelined, this.nowMs());
    this.requests.push(entry);
    return entry;
  }

  dump(): string {
    const at = (ms: number | undefined): string => (ms === undefined ? '-' : `${ms.toFixed(0)} ms`);
    const connections = this.connections.map(
      (c) =>
        `  connection ${c.number}: opened ${at(c.openedAtMs)}, ${c.requestCount} requests, ${c.bytesReceived} bytes in, ` +
        `client FIN ${at(c.finByClientAtMs)}, client RST ${at(c.resetByClientAtMs)}, ended by script ${at(c.endedByOriginAtMs)}, closed ${at(c.closedAtMs)}`,
    );
    const requests = this.requests.map(
      (r) =>
        `  request ${r.number} (connection ${r.connection}, ${r.requestOnConnection} on it): ${r.method || '?'} ${r.target || '?'} ` +
        `${r.complete ? 'complete' : 'incomplete'}, ${r.bodyBytes} body bytes, at ${at(r.atMs)}, answered ${at(r.answeredAtMs)}, ` +
        `left by client ${at(r.closedByClientAtMs)}${r.fault === undefined ? '' : `, FAULT ${r.fault}`}`,
    );
    return [`${connections.length} connections`, ...connections, `${requests.length} requests`, ...requests].join('\n');
  }
}
