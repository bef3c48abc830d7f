import type { FieldList, RequestHead } from '../../http1/message.ts';
import type { Failure } from '../../core/failure.ts';
import { chunkHead, CHUNK_END, lastChunk, responseHeadText } from '../../http1/serializer.ts';
import { hasField } from '../../http1/field-list.ts';
import type { BodySink, BodySource } from '../../transport/body/request-body.ts';
import type { TunnelEnd } from '../../transport/tunnel-end.ts';
import type { ClientOutput } from './client-output.ts';
import type { ClientCertificate, ClientPeer } from '../client-peer.ts';
import { downstreamFailure } from '../exchange/downstream-failure.ts';
import type { Downstream, DownstreamListener, ResponseFraming } from '../downstream.ts';
import { upstreamTrailers } from '../headers.ts';
import { httpDate } from './http-date-cache.ts';

/** Body pieces up to this size are copied behind the head, so that both leave in one write. */
const COALESCE_BYTES = 16_384;

/** What an exchange may do to its connection. */
export interface DownstreamConnection {
  readonly peer: ClientPeer;
  readonly draining: boolean;
  readonly output: ClientOutput;
  /** The exchange takes body bytes (again), or wants no more for now. */
  updateReading(): void;
  /** Nothing more is read as a request: the client's bytes go to the tunnel. */
  becomeTunnel(): TunnelEnd;
  responded(close: boolean): void;
  /** FIN; what was written before still leaves. */
  destroy(): void;
  /** RST. */
  reset(): void;
}

/** One request on our own HTTP/1.1 listener. */
export class Http1Downstream implements Downstream, BodySource {
  readonly protocol: '1.0' | '1.1';
  readonly method: string;
  readonly target: string;
  readonly fields: FieldList;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly encrypted: boolean;
  readonly clientCertificate: ClientCertificate | undefined;
  readonly contentLength: number;
  readonly expectContinue: boolean;
  readonly offersUpgrade: boolean;
  listener: DownstreamListener = SILENT;
  /** The whole request arrived. */
  requestComplete: boolean;
  ended = false;

  readonly #connection: DownstreamConnection;
  readonly #hasBody: boolean;
  #close: boolean;
  #sink: BodySink | undefined;
  /** What arrived in the same read as the head, before anybody wanted the body. */
  #early: Buffer[] = [];
  #trailers: FieldList = [];
  #fault: Failure | undefined;
  #paused = false;
  #continued = false;
  #pendingHead: string | undefined;
  #flushScheduled = false;
  #framing: 'none' | 'length' | 'chunked' | 'until-close' = 'none';

  constructor(connection: DownstreamConnection, head: RequestHead) {
    this.#connection = connection;
    this.protocol = head.versionMinor === 1 ? '1.1' : '1.0';
    this.method = head.method;
    this.target = head.target;
    this.fields = head.fields;
    const { peer } = connection;
    this.remoteAddress = peer.remoteAddress;
    this.remotePort = peer.remotePort;
    this.encrypted = peer.encrypted;
    this.clientCertificate = peer.clientCertificate;
    this.contentLength = head.contentLength;
    this.expectContinue = head.expectContinue;
    this.#hasBody = head.bodyKind !== 'none' && head.contentLength !== 0;
    this.requestComplete = !this.#hasBody;
    this.offersUpgrade = head.upgrade && !this.#hasBody && head.versionMinor === 1;
    this.#close = !head.keepAlive;
  }

  get body(): BodySource | undefined {
    return this.#hasBody ? this : undefined;
  }

  /** Body bytes can be taken now. */
  get wantsBody(): boolean {
    return this.#sink !== undefined && !this.#paused;
  }

  // --- BodySource --------------------------------------------------------------------------------------------------

  start(sink: BodySink): void {
    this.#sink = sink;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) sink.chunk(chunk);
    if (this.requestComplete) return sink.end(this.#trailers);
    if (this.#fault !== undefined) return sink.fail(this.#fault);
    if (this.expectContinue && early.length === 0) this.#writeContinue('Continue', []);
    this.#connection.updateReading();
  }

  pause(): void {
    this.#paused = true;
    this.#connection.updateReading();
  }

  resume(): void {
    this.#paused = false;
    this.#connection.updateReading();
  }

  // --- called by the connection ------------------------------------------------------------------------------------

  bodyChunk(chunk: Buffer): void {
    if (this.#sink === undefined) this.#early.push(chunk);
    else this.#sink.chunk(chunk);
  }

  bodyEnd(trailers: FieldList): void {
    this.requestComplete = true;
    this.#trailers = upstreamTrailers(trailers);
    this.#sink?.end(this.#trailers);
  }

  /** The rest of the request will not come, or cannot be read. */
  bodyFault(kind: 'http_request_error' | 'downstream_timeout', detail: string): void {
    this.#close = true;
    this.#fault = downstreamFailure(kind, detail);
    this.#sink?.fail(this.#fault);
  }

  // --- Downstream --------------------------------------------------------------------------------------------------

  informational(status: number, reason: string, fields: FieldList): void {
    if (this.ended || this.#pendingHead !== undefined) return;
    if (status === 100) return this.#writeContinue(reason, fields);
    this.#connection.output.write(responseHeadText(status, reason, fields, { kind: 'none' }));
  }

  openTunnel(status: 101 | 200, reason: string, fields: FieldList): TunnelEnd {
    const connection = status === 101 ? 'upgrade' : undefined;
    this.#connection.output.write(responseHeadText(status, reason, fields, { kind: 'none', connection }));
    this.#close = true;
    return this.#connection.becomeTunnel();
  }

  respond(status: number, reason: string, fields: FieldList, framing: ResponseFraming): void {
    if (framing.kind === 'stream') this.#framing = this.protocol === '1.0' ? 'until-close' : 'chunked';
    else this.#framing = framing.kind;
    if (this.#framing === 'until-close' || this.#connection.draining) this.#close = true;
    const own = hasField(fields, 'date') ? fields : [...fields, 'Date', httpDate()];
    this.#pendingHead = responseHeadText(status, reason, own, {
      kind: this.#framing,
      length: framing.length,
      connection: this.#close ? 'close' : this.protocol === '1.0' ? 'keep-alive' : undefined,
    });
    if (this.#flushScheduled) return;
    // A head whose body is still to come must not wait for it: event streams open with the head alone.
    this.#flushScheduled = true;
    process.nextTick(flushHead, this);
  }

  write(chunk: Buffer): boolean {
    if (this.ended || chunk.length === 0) return true;
    const head = this.#takeHead();
    if (this.#framing !== 'chunked') return this.#send(head, chunk);
    return this.#send(`${head}${chunkHead(chunk.length)}`, chunk, CHUNK_END);
  }

  end(trailers: FieldList): void {
    if (this.ended) return;
    this.ended = true;
    const rest = `${this.#takeHead()}${this.#framing === 'chunked' ? lastChunk(trailers) : ''}`;
    if (rest !== '') this.#connection.output.write(rest);
    this.#connection.responded(this.#close || !this.requestComplete);
  }

  abort(): void {
    // A connection that closes without a byte makes clients send the request again: they see the head, and the cut.
    if (!this.ended && this.#pendingHead !== undefined) this.#connection.output.write(this.#takeHead());
    this.ended = true;
    // To an HTTP/1.0 client a FIN is the proper end of the body: only a reset shows that it is not whole.
    if (this.#framing === 'until-close') this.#connection.reset();
    else this.#connection.destroy();
  }

  closeAfterResponse(): void {
    this.#close = true;
  }

  flushHead(): void {
    this.#flushScheduled = false;
    if (!this.ended && this.#pendingHead !== undefined) this.#connection.output.write(this.#takeHead());
  }

  // -----------------------------------------------------------------------------------------------------------------

  #takeHead(): string {
    const head = this.#pendingHead ?? '';
    this.#pendingHead = undefined;
    return head;
  }

  #send(before: string, chunk: Buffer, after = ''): boolean {
    const { output } = this.#connection;
    if (before === '' && after === '') return output.write(chunk);
    if (chunk.length > COALESCE_BYTES) return output.writeTogether(before, chunk, after);
    const piece = Buffer.allocUnsafe(before.length + chunk.length + after.length);
    piece.write(before, 0, 'latin1');
    piece.set(chunk, before.length);
    if (after !== '') piece.write(after, before.length + chunk.length, 'latin1');
    return output.write(piece);
  }

  #writeContinue(reason: string, fields: FieldList): void {
    if (this.#continued) return;
    this.#continued = true;
    this.#connection.output.write(responseHeadText(100, reason, fields, { kind: 'none' }));
  }
}

function flushHead(exchange: Http1Downstream): void {
  exchange.flushHead();
}

const SILENT: DownstreamListener = { gone() {}, cut() {}, drained() {} };
