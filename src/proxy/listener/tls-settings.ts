import { randomBytes } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureContextOptions, Server, TlsOptions } from 'node:tls';

/** A certificate, and the hosts it is shown for. */
export interface TlsCertificate {
  /** Lower-case names that a client may ask for (SNI): exact, or `*.example.org` for one label more. */
  readonly hosts: readonly string[];
  /** PEM: the certificate, then those that lead to its root. */
  readonly cert: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/** TLS of a listener. */
export interface ListenerTls {
  /** At least one. The first one is shown to clients that ask for no name, or for one that none has. */
  readonly certificates: readonly TlsCertificate[];
  /** PEM: a client must show a certificate that one of these has signed. Default: none is asked for. */
  readonly clientCa?: string | undefined;
}

/** Certificates of one listener, which may be exchanged while it is open. */
export class TlsContexts {
  #named: readonly { readonly host: string; readonly context: SecureContext }[] = [];
  #current: SecureContextOptions;
  readonly #withClientCertificates: boolean;

  /** @throws Error of OpenSSL when a certificate, a key or their pairing is no good; RangeError without a certificate */
  constructor(settings: ListenerTls) {
    this.#withClientCertificates = settings.clientCa !== undefined;
    this.#current = this.#take(settings);
  }

  serverOptions(handshakeTimeoutMs: number): TlsOptions {
    return {
      ...this.#current,
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: this.#withClientCertificates,
      rejectUnauthorized: this.#withClientCertificates,
      handshakeTimeout: handshakeTimeoutMs,
      SNICallback: (name, done) => done(null, this.#contextOf(name.toLowerCase())),
    };
  }

  /**
   * Open connections keep what they have.
   * @throws as the constructor; RangeError when asking for client certificates would begin or end
   */
  replace(settings: ListenerTls, server: Server): void {
    if ((settings.clientCa !== undefined) !== this.#withClientCertificates)
      throw new RangeError('whether a listener asks for client certificates cannot change while it is open');
    this.#current = this.#take(settings);
    server.setSecureContext(this.#current);
    // A ticket of before would stand for a client certificate that is no longer accepted.
    server.setTicketKeys(randomBytes(48));
  }

  #take({ certificates, clientCa }: ListenerTls): SecureContextOptions {
    const [first] = certificates;
    if (first === undefined) throw new RangeError('a TLS listener needs a certificate');
    const all = certificates.map((one) => ({ one, context: createSecureContext(contextOptions(one, clientCa)) }));
    this.#named = all.flatMap(({ one, context }) => one.hosts.map((host) => ({ host, context })));
    return contextOptions(first, clientCa);
  }

  #contextOf(name: string): SecureContext | undefined {
    const wildcard = `*${name.slice(name.indexOf('.'))}`;
    const exact = this.#named.find(({ host }) => host === name);
    return (exact ?? this.#named.find(({ host }) => host === wildcard))?.context;
  }
}

function contextOptions({ cert, key }: TlsCertificate, clientCa: string | undefined): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(clientCa === undefined ? {} : { ca: clientCa }) };
}
