import type { EndpointAddress } from '../transport/transport.ts';

/** Where requests of one origin go. */
export interface Origin extends EndpointAddress {
  /** `https://api.example.com:8443`, without the default port: the key of everything that is kept for it. */
  readonly key: string;
  readonly isSecure: boolean;
  /** `Host` of its requests. */
  readonly authority: string;
  readonly url: URL;
}

/**
 * Reads an origin.
 * @throws TypeError for what is no URL, neither http nor https, or more than an origin
 */
export function readOrigin(origin: string | URL): Origin {
  const url = typeof origin === 'string' ? parse(origin) : origin;
  const isSecure = url.protocol === 'https:';
  if (!isSecure && url.protocol !== 'http:')
    throw new TypeError(`${JSON.stringify(url.href)} is not an http or https URL`);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw new TypeError(
      `${JSON.stringify(url.href)} is more than an origin: the path is the request's, credentials go into a header`,
    );
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  return { host, port, key: url.origin, isSecure, authority: url.host, url };
}

function parse(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new TypeError(`${JSON.stringify(text)} is not a URL; write http://host:port`);
  return url;
}
