import { defaults } from './defaults.ts';
import type {
  AdminConfig,
  GatewayConfig,
  ListenerTlsConfig,
  RouteConfig,
  RouteMatch,
  RouteRetry,
  RouteRewrite,
  SecretSource,
  TracingConfig,
} from './gateway-config.ts';
import type {
  FileAdmin,
  FileListenerTls,
  FileOwnership,
  FileRoute,
  FileSecret,
  FileTracing,
  GatewayFile,
} from './gateway-file.ts';
import type { OwnershipConfig } from './ownership-config.ts';
import { durationMs, toUpstream } from './to-upstream.ts';

/**
 * A checked file in the words of the code.
 * @param resolve Makes the paths of other files absolute.
 */
export function toConfig(file: GatewayFile, resolve: (path: string) => string = String): GatewayConfig {
  return {
    listeners: file.listeners.map(({ address, server, limits, tls }) => ({
      address,
      server,
      limits: {
        headerBytes: limits.headerBytes,
        headerTimeoutMs: limits.headerTimeout,
        bodyIdleMs: limits.bodyIdle,
        keepAliveMs: limits.keepAlive,
        maxConnections: limits.maxConnections,
        maxStreams: limits.maxStreams,
      },
      ...(tls === undefined ? {} : { tls: toListenerTls(tls, resolve) }),
    })),
    upstreams: Object.entries(file.upstreams).map(([name, upstream]) => toUpstream(name, upstream, resolve)),
    routes: file.routes.map((route, index) => toRoute(route, index)),
    retryOfRetry: file.retryOfRetry,
    replayMemoryBytes: file.replayMemory,
    accessLog: { path: file.accessLog.path },
    drainMs: file.shutdown.drain,
    drainDelayMs: file.shutdown.delay,
    admin: file.admin === undefined ? undefined : toAdmin(file.admin),
    tracing: file.tracing === undefined ? undefined : toTracing(file.tracing),
    ...(file.ownership === undefined ? {} : { ownership: toOwnership(file.ownership) }),
  };
}

function toListenerTls(tls: FileListenerTls, resolve: (path: string) => string): ListenerTlsConfig {
  const { cert = '', key = '', clientCa, certificates = [{ hosts: [], cert, key }] } = tls;
  return {
    certificates: certificates.map((one) => ({
      hosts: one.hosts,
      certFile: resolve(one.cert),
      keyFile: resolve(one.key),
    })),
    clientCaFile: clientCa === undefined ? undefined : resolve(clientCa),
  };
}

function toOwnership({ mode, trust, service, margin, alias, probeEvery }: FileOwnership): OwnershipConfig {
  return { mode, trust, service, marginMs: margin, alias, probeEvery };
}

function toTracing({ otlp, sample, service, headers }: FileTracing): TracingConfig {
  return {
    collectorUrl: otlp,
    sampling: sample,
    service,
    headers: Object.entries(headers).flatMap(([name, source]) => {
      const place = toSource(source);
      return place === undefined ? [] : [{ name: name.toLowerCase(), source: place }];
    }),
  };
}

function toSource({ file, env }: FileSecret): SecretSource | undefined {
  if (file !== undefined) return { file };
  return env === undefined ? undefined : { env };
}

function toAdmin({ address, write, hosts, token }: FileAdmin): AdminConfig {
  return { address, write, hosts, token: token === undefined ? undefined : toSource(token) };
}

function toRoute(
  {
    name,
    match,
    upstream,
    timeouts,
    retry,
    replayBuffer,
    hedge,
    rewrite,
    upgrade,
    connect,
    idempotent,
    ownership,
  }: FileRoute,
  index: number,
): RouteConfig {
  const { prefix, exact } = match.path ?? {};
  const path =
    prefix !== undefined
      ? ({ kind: 'prefix', value: prefix } as const)
      : exact !== undefined
        ? ({ kind: 'exact', value: exact } as const)
        : undefined;
  return {
    name: name ?? defaultRouteName(index),
    match: { hosts: match.hosts, path, methods: match.methods, fields: fieldsOf(match.headers) },
    targets: upstream,
    rewrite: rewrite === undefined ? undefined : { host: rewriteHost(rewrite.host), prefix: rewrite.prefix },
    timeouts: { requestMs: timeouts.request, attemptMs: timeouts.backendRequest, idleMs: timeouts.idle },
    retry: toRetry(retry),
    replayBufferBytes: replayBuffer,
    hedge: hedge === undefined ? undefined : { delayMs: hedge.delay, max: hedge.max },
    upgrade,
    connect,
    ...(ownership === undefined ? {} : { ownershipMode: ownership.mode }),
    idempotent,
  };
}

export function toRetry(retry: FileRoute['retry']): RouteRetry {
  const grpcStatuses = retry.codes.flatMap((code) => (typeof code === 'number' ? [] : code.grpc));
  return {
    maxRetries: retry.attempts,
    codes: retry.codes.filter((code) => typeof code === 'number'),
    ...(grpcStatuses.length === 0 ? {} : { grpcStatuses }),
    on: retry.on,
    backoff: {
      curve: retry.curve,
      baseMs: retry.backoff,
      maxMs: retry.maxBackoff ?? defaultMaxBackoffMs(retry.backoff),
      jitter: retry.jitter,
    },
    retryAfterMaxMs: retry.retryAfterMax,
  };
}

function fieldsOf(headers: Readonly<Record<string, string>> | undefined): RouteMatch['fields'] {
  return headers === undefined
    ? undefined
    : Object.entries(headers).map(([name, value]) => ({ name: name.toLowerCase(), value }));
}

function rewriteHost(host: string | undefined): RouteRewrite['host'] {
  if (host === undefined) return undefined;
  return host === 'upstream' ? 'endpoint' : { name: host };
}

export function defaultRouteName(index: number): string {
  return `route-${index + 1}`;
}

/** A ceiling that leaves a long first wait room to grow. */
function defaultMaxBackoffMs(backoffMs: number): number {
  return Math.max(durationMs(defaults.retry.smallestMaxBackoff), 10 * backoffMs);
}
