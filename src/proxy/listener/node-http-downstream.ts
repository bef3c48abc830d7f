import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FieldList } from '../../http1/message.ts';
import { fieldValue } from '../../http1/field-list.ts';
import { responseHeadText } from '../../http1/serializer.ts';
import type { Clock, Timer } from '../../transport/clock.ts';
import type { BodySink, BodySource } from '../../transport/body/request-body.ts';
import type { ClientCertificate } from '../client-peer.ts';
import { peerOf, resetSocket } from '../client-peer.ts';
import { downstreamFailure } from '../exchange/downstream-failure.ts';
import { RequestEnd } from './half-close.ts';
import { upstreamTrailers } from '../headers.ts';
import type { Downstream, DownstreamListener, ListenerLimits, ResponseFraming } from '../downstream.ts';

/** One request that `node:http` read. */
export class NodeHttpDownstream implements Downstream, BodySource {
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
  listener: DownstreamListener = SILENT;

  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #limits: ListenerLimits;
  readonly #clock: Clock;
  readonly #hasBody: boolean;
  #sink: BodySink | undefined;
  #timer: Timer | undefined;
  readonly #requestEnd: RequestEnd = new RequestEnd();
  #continued = false;
  #close = false;
  #ended = false;
  /** The body ends with the connection. */
  #untilClose = false;

  constructor(request: IncomingMessage, response: ServerResponse, limits: ListenerLimits, clock: Clock) {
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    this.#clock = clock;
    this.protocol = request.httpVersionMinor === 0 ? '1.0' : '1.1';
    this.method = request.method ?? '';
    this.target = request.url ?? '';
    this.fields = request.rawHeaders;
    const peer = peerOf(request.socket);
    this.remoteAddress = peer.remoteAddress;
    this.remotePort = peer.remotePort;
    this.encrypted = peer.encrypted;
    this.clientCertificate = peer.clientCertificate;
    const length = fieldValue(this.fields, 'content-length');
    const chunked = fieldValue(this.fields, 'transfer-encoding') !== undefined;
    this.contentLength = chunked || length === undefined ? -1 : Number(length);
    this.#hasBody = chunked || this.contentLength > 0;
    this.expectContinue =
      this.protocol === '1.1' && fieldValue(this.fields, 'expect')?.toLowerCase() === '100-continue';
    response.on('close', () => this.#closed());
    this.#requestEnd.reached(clock.nowMs());
    request.once('end', () => this.#requestEnd.reached(clock.nowMs()));
    request.socket.once('end', this.#halfClosed);
    response.on('drain', () => {
      this.#timer?.cancel();
      this.listener.drained();
    });
    response.on('error', () => {});
    request.on('error', () => {});
  }

  get body(): BodySource | undefined {
    return this.#hasBody ? this : undefined;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    if (this.expectContinue) this.#writeContinue();
    const request = this.#request;
    request.on('data', (chunk: Buffer) => {
      this.#armIdle();
      sink.chunk(chunk);
    });
    request.on('end', () => {
      this.#timer?.cancel();
      sink.end(upstreamTrailers(request.rawTrailers));
    });
    request.on('error', () => sink.fail(downstreamFailure('http_request_error', 'the request body could not be read')));
    this.#armIdle();
  }

  pause(): void {
    this.#timer?.cancel();
    this.#request.pause();
  }

  resume(): void {
    this.#armIdle();
    this.#request.resume();
  }

  informational(status: number, reason: string, fields: FieldList): void {
    if (status === 100) return this.#writeContinue();
    // `writeEarlyHints` takes Link fields only; the socket is ours while this response is the current one.
    if (!this.#response.headersSent) {
      this.#response.socket?.write(responseHeadText(status, reason, fields, { kind: 'none' }), 'latin1');
    }
  }

  respond(status: number, reason: string, fields: FieldList, framing: ResponseFraming): void {
    this.#untilClose = framing.kind === 'stream' && this.protocol === '1.0';
    const own = [...fields];
    if (framing.length >= 0 && framing.kind !== 'stream') own.push('Content-Length', String(framing.length));
    if (framing.kind === 'stream' && this.protocol === '1.1') own.push('Transfer-Encoding', 'chunked');
    if (this.#close) own.push('Connection', 'close');
    this.#response.writeHead(status, reason, own);
    if (framing.kind === 'stream') this.#response.flushHeaders();
  }

  write(chunk: Buffer): boolean {
    // Node may hold the bytes for a while, also when it asks for more.
    const accepted = this.#response.write(Buffer.from(chunk));
    // To the proxy it is a client that left.
    if (!accepted) this.#arm(() => this.#response.destroy());
    return accepted;
  }

  end(trailers: FieldList): void {
    this.#ended = true;
    this.#timer?.cancel();
    if (trailers.length > 0) this.#response.addTrailers(pairs(trailers));
    this.#response.end();
  }

  abort(): void {
    this.#ended = true;
    this.#timer?.cancel();
    const { headersSent, socket } = this.#response;
    // Node may hold the head back, and a connection that closes without a byte makes clients send the request again.
    if (headersSent) this.#response.flushHeaders();
    // To an HTTP/1.0 client a FIN is the proper end of the body: only a reset shows that it is not whole.
    if (this.#untilClose && socket !== null) resetSocket(socket);
    else this.#response.destroy();
  }

  closeAfterResponse(): void {
    this.#close = true;
  }

  readonly #halfClosed = (): void => {
    if (!this.#ended && (!this.#request.complete || !this.#requestEnd.isHalfClose(this.#clock.nowMs())))
      this.#response.destroy();
  };

  #closed(): void {
    this.#timer?.cancel();
    this.#request.socket.off('end', this.#halfClosed);
    if (this.#ended) return;
    this.#ended = true;
    this.listener.gone();
  }

  #armIdle(): void {
    this.#arm(() =>
      this.#sink?.fail(downstreamFailure('downstream_timeout', 'the request body stood still for too long')),
    );
  }

  #arm(fire: () => void): void {
    this.#timer?.cancel();
    const { bodyIdleMs } = this.#limits;
    this.#timer = bodyIdleMs === 0 ? undefined : this.#clock.setTimer(bodyIdleMs, fire);
  }

  #writeContinue(): void {
    if (this.#continued) return;
    this.#continued = true;
    this.#response.writeContinue();
  }
}

const SILENT: DownstreamListener = { gone() {}, cut() {}, drained() {} };

function pairs(fields: FieldList): [string, string][] {
  const list: [string, string][] = [];
  for (let i = 0; i < fields.length; i += 2) list.push([fields[i]!, fields[i + 1]!]);
  return list;
}
