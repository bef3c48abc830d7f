import type { ServerHttp2Stream } from 'node:http2';
import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import type { Clock } from '../../transport/clock.ts';
import type { BodySink, BodySource } from '../../transport/body/request-body.ts';
import { Watchdog } from '../../transport/watchdog.ts';
import type { ClientCertificate, ClientPeer } from '../client-peer.ts';
import { downstreamFailure } from '../exchange/downstream-failure.ts';
import type { Downstream, DownstreamListener, ListenerLimits, ResponseFraming } from '../downstream.ts';
import { upstreamTrailers } from '../headers.ts';
import { ERROR_CODE } from './http2-frames.ts';
import type { Http2RequestHead } from './http2-request.ts';
import { http2Fields, http2ResponseHead } from './http2-response.ts';

/** What one stream needs of its connection. */
export interface Http2StreamOwner {
  readonly peer: ClientPeer;
  readonly clock: Clock;
  readonly limits: ListenerLimits;
  /** Called once. */
  streamClosed(downstream: Http2Downstream): void;
}

/** One request on an HTTP/2 connection. */
export class Http2Downstream implements Downstream, BodySource {
  readonly protocol = '2' as const;
  readonly method: string;
  readonly target: string;
  readonly fields: FieldList;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly encrypted: boolean;
  readonly clientCertificate: ClientCertificate | undefined;
  readonly contentLength: number;
  readonly expectContinue: boolean;
  listener: DownstreamListener = SILENT;

  readonly #owner: Http2StreamOwner;
  readonly #stream: ServerHttp2Stream;
  readonly #hasBody: boolean;
  readonly #readWatchdog: Watchdog;
  readonly #writeWatchdog: Watchdog;
  #requestComplete: boolean;
  #sink: BodySink | undefined;
  #trailers: FieldList = [];
  #continued = false;
  /** The answer is complete, or cut: nothing more is told. */
  #ended = false;
  #hasContent = false;

  /** @param endsWithHead The request is its head alone. */
  constructor(owner: Http2StreamOwner, stream: ServerHttp2Stream, head: Http2RequestHead, endsWithHead: boolean) {
    this.#owner = owner;
    this.#stream = stream;
    this.method = head.method;
    this.target = head.target;
    this.fields = head.fields;
    this.remoteAddress = owner.peer.remoteAddress;
    this.remotePort = owner.peer.remotePort;
    this.encrypted = owner.peer.encrypted;
    this.clientCertificate = owner.peer.clientCertificate;
    this.contentLength = head.contentLength;
    this.expectContinue = head.expectContinue && !endsWithHead;
    this.#hasBody = !endsWithHead;
    this.#requestComplete = endsWithHead;
    this.#readWatchdog = new Watchdog(owner.clock, () => this.#late());
    this.#writeWatchdog = new Watchdog(owner.clock, () => this.#stuck());
    stream.on('error', () => {});
    stream.on('aborted', () => this.#lost());
    stream.on('close', () => this.#lost());
    // Node tells of them once, when they come: that may be before anybody reads the body.
    stream.on('trailers', (_fields, _flags, raw: string[]) => {
      this.#trailers = upstreamTrailers(raw);
    });
    stream.on('drain', () => {
      this.#writeWatchdog.set(Infinity);
      if (!this.#ended) this.listener.drained();
    });
  }

  get body(): BodySource | undefined {
    return this.#hasBody ? this : undefined;
  }

  // --- BodySource --------------------------------------------------------------------------------------------------

  start(sink: BodySink): void {
    this.#sink = sink;
    const stream = this.#stream;
    if (this.expectContinue) this.#writeContinue([]);
    stream.on('data', (chunk: Buffer) => {
      this.#armRead();
      sink.chunk(chunk);
    });
    stream.on('end', () => this.#complete(sink));
    this.#armRead();
  }

  pause(): void {
    this.#readWatchdog.set(Infinity);
    this.#stream.pause();
  }

  resume(): void {
    this.#armRead();
    this.#stream.resume();
  }

  // --- Downstream --------------------------------------------------------------------------------------------------

  informational(status: number, _reason: string, fields: FieldList): void {
    if (status === 100) this.#writeContinue(fields);
    else if (this.#writable && !this.#stream.headersSent) this.#interim(status, fields);
  }

  respond(status: number, _reason: string, fields: FieldList, framing: ResponseFraming): void {
    // Behind a 205 Node sends no content (RFC 9110 §15.3.6): with the length of one, the client would refuse the answer.
    const isEmpty = framing.kind === 'none' || status === 205;
    const head = http2ResponseHead(status, fields, status === 205 ? NO_CONTENT : framing);
    if (!this.#writable) return;
    // Node then leaves the end of the stream to us, and says when the last byte has left: only so can an answer be cut
    // without having been ended before, and an upload be stopped behind a whole answer.
    this.#hasContent = !isEmpty;
    this.#stream.respond(head, { endStream: isEmpty, waitForTrailers: !isEmpty });
  }

  write(chunk: Buffer): boolean {
    if (!this.#writable || !this.#hasContent || chunk.length === 0) return true;
    // The session keeps the bytes until the client's windows let them pass.
    const accepted = this.#stream.write(Buffer.from(chunk));
    if (!accepted) this.#armWrite();
    return accepted;
  }

  end(trailers: FieldList): void {
    if (this.#ended) return;
    this.#ended = true;
    const stream = this.#stream;
    if (stream.closed || stream.destroyed) return;
    // The client may still be slow to take what is left.
    this.#armWrite();
    if (this.#hasContent) {
      stream.once('wantTrailers', () => {
        if (!this.#sendTrailers(trailers)) return;
        // Node sends them in its next turn.
        if (!this.#requestComplete) setImmediate(() => setImmediate(() => this.#stopUpload()));
      });
    }
    stream.end();
    if (!this.#hasContent && !this.#requestComplete) this.#stopUpload();
  }

  abort(): void {
    this.#ended = true;
    this.#stream.close(ERROR_CODE.internal);
  }

  /** A stream ends with its answer anyhow; an upload that is not read is stopped then. */
  closeAfterResponse(): void {}

  /** The process ends. */
  cut(): void {
    if (!this.#ended) this.listener.cut();
  }

  // -----------------------------------------------------------------------------------------------------------------

  get #writable(): boolean {
    const stream = this.#stream;
    return !this.#ended && !stream.closed && !stream.destroyed;
  }

  /** Node throws at what it does not take, and here nobody else would catch it. */
  #sendTrailers(trailers: FieldList): boolean {
    try {
      this.#stream.sendTrailers(http2Fields(trailers));
      return true;
    } catch {
      this.abort();
      return false;
    }
  }

  /** The whole answer is given: what the client still sends is not needed (RFC 9113 §8.1). */
  #stopUpload(): void {
    if (!this.#stream.destroyed) this.#stream.close(ERROR_CODE.none);
  }

  #complete(sink: BodySink): void {
    this.#readWatchdog.set(Infinity);
    // A stream that was reset ends, too.
    if (this.#requestComplete || this.#stream.aborted || this.#stream.closed) return;
    this.#requestComplete = true;
    sink.end(this.#trailers);
  }

  #lost(): void {
    this.#readWatchdog.stop();
    if (this.#stream.destroyed) {
      this.#writeWatchdog.stop();
      this.#owner.streamClosed(this);
    }
    if (this.#ended) return;
    this.#ended = true;
    this.listener.gone();
  }

  #late(): void {
    this.#sink?.fail(lateBody());
  }

  /** Nobody takes the answer. */
  #stuck(): void {
    this.#stream.close(ERROR_CODE.cancel);
    this.#lost();
  }

  #armRead(): void {
    if (!this.#requestComplete) this.#arm(this.#readWatchdog);
  }

  #armWrite(): void {
    this.#arm(this.#writeWatchdog);
  }

  #arm(watchdog: Watchdog): void {
    const { bodyIdleMs } = this.#owner.limits;
    watchdog.set(bodyIdleMs === 0 ? Infinity : this.#owner.clock.nowMs() + bodyIdleMs);
  }

  #writeContinue(fields: FieldList): void {
    if (this.#continued || !this.#writable || this.#stream.headersSent) return;
    this.#continued = true;
    this.#interim(100, fields);
  }

  #interim(status: number, fields: FieldList): void {
    this.#stream.additionalHeaders({ ...http2Fields(fields), ':status': status });
  }
}

function lateBody(): Failure {
  return downstreamFailure('downstream_timeout', 'the request body stood still for too long');
}

const NO_CONTENT: ResponseFraming = { kind: 'none', length: -1 };
const SILENT: DownstreamListener = { gone() {}, cut() {}, drained() {} };
