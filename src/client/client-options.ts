import { requireWholeNumber } from '../core/require-whole-number.ts';
import type { TlsSettings } from '../transport/tls-connect.ts';
import type { RequestEnd } from './client-state.ts';
import { readProxy } from './env-proxy.ts';
import type { ProxyChoice } from './env-proxy.ts';
import { requireCookieJar } from './request-cookies.ts';
import type { CookieJar } from './request-cookies.ts';
import { CLIENT_DEFAULTS, requireBytes, requireNames } from './options.ts';
import type { CallOptions } from './options.ts';

/** A client's options: what holds for all its calls, and what they share. */
export interface ClientOptions extends CallOptions {
  /** Most connections to one origin, 1–100 000. Further requests wait for one. Default 1024. */
  readonly connections?: number | undefined;
  /** For `https:`. Default: certificates must be valid for their name, by the authorities that Node brings. */
  readonly tls?: TlsSettings | undefined;
  /** Whether HTTP/2 is offered to servers with TLS, which choose. Default true. */
  readonly http2?: boolean | undefined;
  /**
   * The HTTP proxy that requests go through: `environment` reads `http_proxy`, `https_proxy` and `no_proxy` when the client is
   * made; `none`; or its URL. `https:` goes through a tunnel. Default `environment`.
   */
  readonly proxy?: string | undefined;
  /**
   * Where cookies are kept: a `CookieJar` of tough-cookie, or what is like one. Each attempt asks it, and it gets what each
   * answer sets. A request with a Cookie of its own keeps that one alone. Default: no cookies.
   */
  readonly cookies?: CookieJar | undefined;
  /** Bytes of a request body that is read once (a stream) kept to send it again; a longer one is sent once. Default 65 536. */
  readonly replayBufferBytes?: number | undefined;
  /** The same for all requests under way together. Default 67 108 864. */
  readonly replayMemoryBytes?: number | undefined;
  /** Told of each request when it ended, whoever sent it. What it throws is an uncaught exception. */
  readonly onRequestEnd?: ((end: RequestEnd) => void) | undefined;
}

const CALL_NAMES = ['retry', 'timeout', 'budget', 'hedge', 'idempotencyKey', 'endpoints'];

/** What a client alone can be told: in a call these would do nothing. */
export const CLIENT_ONLY_NAMES: ReadonlySet<string> = new Set([
  'connections',
  'tls',
  'http2',
  'proxy',
  'cookies',
  'replayBufferBytes',
  'replayMemoryBytes',
  'onRequestEnd',
]);

const NAMES: readonly string[] = [...CALL_NAMES, ...CLIENT_ONLY_NAMES];

/** @throws RangeError or TypeError for a value that cannot be, naming the field */
export function readClientOptions(options: ClientOptions): {
  readonly connections: number;
  readonly tls: TlsSettings;
  readonly offersHttp2: boolean;
  readonly proxyOf: ProxyChoice;
  readonly cookies: CookieJar | undefined;
  readonly replayBufferBytes: number;
  readonly replayMemoryBytes: number;
  readonly onRequestEnd: ClientOptions['onRequestEnd'];
} {
  requireNames('client', options, NAMES);
  const { connections = 1024, onRequestEnd, idempotencyKey, tls = {}, http2 = true, proxy = 'environment' } = options;
  requireWholeNumber('client', 'connections', connections, 1, 100_000);
  // Two requests with one key: the second would get the answer of the first.
  if (typeof idempotencyKey === 'string')
    throw new TypeError('idempotencyKey: a text is for one call; give a client true, or a function');
  if (onRequestEnd !== undefined && typeof onRequestEnd !== 'function')
    throw new TypeError('onRequestEnd: give a function');
  if (typeof proxy !== 'string') throw new TypeError("proxy: give 'environment', 'none' or a URL");
  if (typeof http2 !== 'boolean') throw new TypeError('http2: give true or false');
  if (typeof tls !== 'object' || tls === null) throw new TypeError('tls: give an object');
  requireNames('tls', tls, ['serverName', 'ca', 'cert', 'key', 'verify']);
  return {
    connections,
    tls,
    offersHttp2: http2,
    proxyOf: readProxy(proxy, process.env),
    cookies: requireCookieJar(options.cookies),
    onRequestEnd,
    replayBufferBytes: requireBytes(
      'replayBufferBytes',
      options.replayBufferBytes ?? CLIENT_DEFAULTS.replayBufferBytes,
    ),
    replayMemoryBytes: requireBytes(
      'replayMemoryBytes',
      options.replayMemoryBytes ?? CLIENT_DEFAULTS.replayMemoryBytes,
    ),
  };
}
