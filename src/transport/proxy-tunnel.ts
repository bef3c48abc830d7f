import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { EndpointAddress } from './transport.ts';

/** An HTTP proxy that opens tunnels. */
export interface TunnelProxy {
  readonly host: string;
  readonly port: number;
  /** Value of Proxy-Authorization; `undefined` where it asks for none. */
  readonly authorization: string | undefined;
}

/** A stream of bytes to an endpoint, by other means than a connection of our own. */
export type OpenStream = (endpoint: EndpointAddress) => Duplex;

/** Longest answer head of a proxy, in bytes. */
const MAX_HEAD_BYTES = 16_384;

/**
 * Streams through tunnels (RFC 9110 §9.3.6): `CONNECT host:port` to the proxy of the endpoint, and bytes as they are
 * after its 2xx. Any other answer destroys the stream: nothing of a request was sent then.
 */
export function createTunnelStream(proxyOf: (endpoint: EndpointAddress) => TunnelProxy): OpenStream {
  return (endpoint) => new TunnelStream(proxyOf(endpoint), endpoint);
}

class TunnelStream extends Duplex {
  readonly #socket: Socket;
  readonly #name: string;
  #head: Buffer = Buffer.alloc(0);
  #isOpen = false;
  /** What TLS wants to say before the tunnel is there. */
  #pending: (() => void) | undefined;

  constructor(proxy: TunnelProxy, { host, port }: EndpointAddress) {
    super({ allowHalfOpen: true });
    const target = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    this.#name = `the proxy ${proxy.host}:${proxy.port}`;
    this.#socket = connect({ host: proxy.host, port: proxy.port, noDelay: true, keepAlive: true });
    const authorization = proxy.authorization === undefined ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
    this.#socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`, 'latin1');
    this.#socket.on('data', (chunk) => this.#received(chunk));
    this.#socket.on('end', () => this.#ended());
    this.#socket.on('drain', () => this.#proceed());
    this.#socket.on('error', (error) => this.destroy(error));
    this.#socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const write = (): void => {
      if (this.#socket.write(chunk)) done();
      else this.#pending = done;
    };
    if (this.#isOpen) write();
    else this.#pending = write;
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#pending = undefined;
    this.#socket.destroy();
    done(error);
  }

  #proceed(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.();
  }

  #received(chunk: Buffer): void {
    if (!this.#isOpen) return this.#readHead(chunk);
    if (!this.push(chunk)) this.#socket.pause();
  }

  #readHead(chunk: Buffer): void {
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf('\r\n\r\n');
    if (end === -1) {
      if (this.#head.length > MAX_HEAD_BYTES) this.#refuse('its answer to CONNECT is too long');
      return;
    }
    const status = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(this.#head.toString('latin1', 0, end + 2))?.[1];
    if (status?.startsWith('2') !== true) {
      return this.#refuse(status === undefined ? 'it does not speak HTTP' : `it answered CONNECT with ${status}`);
    }
    const rest = this.#head.subarray(end + 4);
    this.#head = Buffer.alloc(0);
    this.#isOpen = true;
    if (rest.length > 0) this.push(rest);
    this.#proceed();
  }

  #ended(): void {
    if (this.#isOpen) this.push(null);
    else this.#refuse('it closed the connection instead of opening a tunnel');
  }

  #refuse(why: string): void {
    this.destroy(Object.assign(new Error(`${this.#name}: ${why}`), { code: 'ERR_PROXY_TUNNEL' }));
  }
}
