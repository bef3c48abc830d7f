import { parseAddress } from '../../engine/endpoint.ts';
import type { ListenAddress } from '../downstream.ts';

/** `host:port`, port 0 allowed. @throws RangeError */
export function parseListenAddress(text: string): ListenAddress {
  if (text.endsWith(':0')) {
    const { host } = parseAddress(`${text.slice(0, -1)}1`);
    return { host, port: 0 };
  }
  const { host, port } = parseAddress(text);
  return { host, port };
}
