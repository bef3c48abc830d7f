import type { Origin } from './origin.ts';

/** An HTTP proxy, and how it is told who asks. */
export interface ProxyServer {
  readonly host: string;
  readonly port: number;
  readonly key: string;
  /** Value of Proxy-Authorization; `undefined` where the URL has no credentials. */
  readonly authorization: string | undefined;
}

/** Which proxy an origin is reached through; `undefined`: none. */
export type ProxyChoice = (origin: Origin) => ProxyServer | undefined;

/**
 * `environment`: `http_proxy`, `https_proxy` and `no_proxy`, in capitals too; `none`; or the URL of one proxy for everything.
 * @throws TypeError for a URL that is none, or a proxy that is to be spoken to with TLS
 */
export function readProxy(setting: string, environment: Readonly<Record<string, string | undefined>>): ProxyChoice {
  if (setting === 'none') return () => undefined;
  if (setting !== 'environment') {
    const only = readServer('proxy', setting);
    return () => only;
  }
  const valueOf = (name: string): string | undefined =>
    environment[name] || environment[name.toUpperCase()] || undefined;
  // A CGI program gets the header `Proxy` of a stranger's request as HTTP_PROXY.
  const plainValue = environment['REQUEST_METHOD'] === undefined ? valueOf('http_proxy') : environment['http_proxy'];
  const plain = plainValue === undefined ? undefined : readServer('http_proxy', plainValue);
  const secureValue = valueOf('https_proxy');
  const secure = secureValue === undefined ? undefined : readServer('https_proxy', secureValue);
  if (plain === undefined && secure === undefined) return () => undefined;
  const exceptions = (valueOf('no_proxy') ?? '')
    .split(/[,\s]+/)
    .filter((one) => one !== '')
    .map(readException);
  return (origin) => {
    const proxy = origin.isSecure ? secure : plain;
    return proxy === undefined || exceptions.some((covers) => covers(origin)) ? undefined : proxy;
  };
}

function readServer(name: string, text: string): ProxyServer {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === '')
    throw new TypeError(`${name}: this is not a URL of a proxy; write http://host:port`);
  if (url.protocol !== 'http:')
    throw new TypeError(
      `${name}: a proxy is spoken to over http://, not ${url.protocol}//; it carries https inside a tunnel all the same`,
    );
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const port = url.port === '' ? 80 : Number(url.port);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const authorization = credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { host, port, key: `http://${url.host}`, authorization };
}

/** `*`, `host`, `host:port`, `.suffix` or `*.suffix`. A plain name covers the names below it too, as in other programs. */
function readException(text: string): (origin: Origin) => boolean {
  if (text === '*') return () => true;
  const match = /^(\*?\.)?(\[[^\]]+\]|[^:]+|[^:]*:[^:]*:.*)(?::(\d+))?$/.exec(text);
  const isBelowOnly = match?.[1] === '*.';
  const name = (match?.[2] ?? text).replace(/^\[(.+)\]$/, '$1').toLowerCase();
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  return (origin) => {
    if (port !== undefined && port !== origin.port) return false;
    return (origin.host === name && !isBelowOnly) || origin.host.endsWith(`.${name}`);
  };
}
