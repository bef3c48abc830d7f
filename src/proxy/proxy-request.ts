import { fieldValue } from '../http1/field-list.ts';
import type { Downstream } from './downstream.ts';
import { withoutForgedFields } from './namespace-fields.ts';
import type { ProxyRequest } from './phases.ts';

/** Reads the request of an exchange once; every attempt is built from this, never from an earlier attempt. */
export function readProxyRequest(
  downstream: Downstream,
  listener: string | undefined,
  isTrusted: boolean,
): ProxyRequest {
  const { method, target } = downstream;
  const split = method === 'CONNECT' ? { authority: target, path: '/' } : splitAbsoluteForm(target);
  return {
    protocol: downstream.protocol,
    method,
    target,
    path: split?.path ?? target,
    // RFC 9112 §3.2.2: an authority in the target stands above the Host field.
    host: split?.authority ?? fieldValue(downstream.fields, 'host') ?? '',
    fields: withoutForgedFields(downstream.fields, isTrusted),
    remoteAddress: downstream.remoteAddress,
    encrypted: downstream.encrypted,
    clientCertificate: downstream.clientCertificate,
    listener,
  };
}

export function pathWithoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}

function splitAbsoluteForm(target: string): { authority: string; path: string } | undefined {
  if (target.startsWith('/') || target === '*') return undefined;
  const match = /^https?:\/\/([^/?#]+)([/?].*)?$/i.exec(target);
  if (match === null) return undefined;
  const rest = match[2] ?? '/';
  return { authority: match[1]!, path: rest.startsWith('?') ? `/${rest}` : rest };
}
