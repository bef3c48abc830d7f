import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostPort } from '../../config/address.ts';
import { ListenError } from '../listener-set.ts';
import { refuse } from './answer.ts';
import type { GuardSettings } from './guard.ts';
import { refusalOf } from './guard.ts';
import type { Resource } from './resources.ts';
import { PROBES } from './resources.ts';

/** Few clients, small heads, no bodies, no patience: whatever happens here must cost the traffic next to nothing. */
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const;
const MAX_CONNECTIONS = 64;
const MAX_HEADER_FIELDS = 100;
const MAX_REQUESTS_PER_CONNECTION = 1_000;
/** A client that takes nothing of its answer for so long is cut. Readers of events get a heartbeat more often. */
const STALL_MS = 30_000;

export interface AdminServer {
  /** `host:port` with the real port. */
  readonly address: string;
  close(): void;
}

export interface AdminServerOptions {
  readonly address: HostPort;
  /** Asked at each request, so that a reload can change it. */
  readonly guard: () => GuardSettings;
  readonly resourceAt: (path: string) => Resource | undefined;
  readonly onError: (message: string) => void;
}

/** @throws ListenError when the address cannot be bound */
export async function openAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { address } = options;
  const server = createServer(LIMITS, (request, response) => {
    serve(request, response, options).catch((error: unknown) => {
      options.onError(`admin: ${error instanceof Error ? error.message : String(error)}`);
      response.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.maxHeadersCount = MAX_HEADER_FIELDS;
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION;
  server.timeout = STALL_MS;
  await listen(server, address);
  server.on('error', (error) => options.onError(`admin: ${error.message}`));
  const { address: host, port } = server.address() as AddressInfo;
  return {
    address: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listen(server: Server, { host, port, key }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(new ListenError(key, error));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

async function serve(request: IncomingMessage, response: ServerResponse, options: AdminServerOptions): Promise<void> {
  const target = request.url ?? '';
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const refusal = refusalOf(request, options.guard(), PROBES.has(path));
  if (refusal !== undefined) return refuse(response, refusal);
  // An absolute target would name a second host beside `Host`.
  const resource = target.startsWith('/') ? options.resourceAt(path) : undefined;
  if (resource === undefined) return refuse(response, { status: 404, detail: 'There is nothing here; see /.' });
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
  const handler = isMethodOf(resource, method) ? resource[method] : undefined;
  if (handler === undefined)
    return refuse(response, {
      status: 405,
      detail: 'This method does not apply here; see Allow.',
      fields: { Allow: allowed(resource) },
    });
  if (hasBody(request)) return refuse(response, { status: 413, detail: 'Requests to this interface have no body.' });
  await handler(request, response, mark === -1 ? '' : target.slice(mark + 1));
}

function isMethodOf(resource: Resource, method: string): method is keyof Resource {
  return Object.hasOwn(resource, method);
}

function allowed(resource: Resource): string {
  return Object.keys(resource)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
