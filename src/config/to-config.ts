import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { OutlierDetectionOptions } from '../core/outlier-detection.ts';
import { defaults } from './defaults.ts';
import type {
  AdminConfig,
  BudgetConfig,
  EndpointShare,
  GatewayConfig,
  HealthCheckConfig,
  RouteConfig,
  RouteMatch,
  RouteRetry,
  RouteRewrite,
  SecretSource,
  TracingConfig,
  UpstreamConfig,
  UpstreamTlsConfig,
} from './gateway-config.ts';
import { readDuration } from './quantity.ts';
import type {
  FileAdmin,
  FileEndpoint,
  FileHealthCheck,
  FileCircuitBreaker,
  FileOutlierDetection,
  FileRetryBudget,
  FileRoute,
  FileSecret,
  FileTracing,
  FileUpstream,
  FileUpstreamTls,
  GatewayFile,
} from './gateway-file.ts';

/**
 * A checked file in the words of the code.
 * @param resolve Makes the paths of other files absolute.
 */
export function toConfig(file: GatewayFile, resolve: (path: string) => string = String): GatewayConfig {
  return {
    listeners: file.listeners.map(({ address, server, limits }) => ({
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
  };
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

function toUpstream(
  name: string,
  {
    endpoints,
    loadBalancing,
    connect,
    retryBudget,
    circuitBreaker,
    outlierDetection,
    healthCheck,
    ...rest
  }: FileUpstream,
  resolve: (path: string) => string,
): UpstreamConfig {
  return {
    name,
    endpoints: endpoints.flatMap(({ address, ...share }) =>
      address === undefined ? [] : [{ address, ...toShare(share) }],
    ),
    dnsEndpoints: endpoints.flatMap(({ dns, refresh, ...share }) =>
      dns === undefined
        ? []
        : [{ name: dns, refreshMs: refresh ?? durationMs(defaults.endpoint.refresh), ...toShare(share) }],
    ),
    protocol: rest.protocol,
    tls: rest.tls === undefined ? undefined : toTls(rest.tls, resolve),
    loadBalancing: loadBalancing.policy,
    hashHeader: loadBalancing.header,
    connect: {
      connectMs: connect.timeout,
      idleTimeoutMs: connect.idleTimeout,
      maxConnections: connect.maxConnections,
      maxRequestsPerConnection: connect.maxRequestsPerConnection,
    },
    healthCheck: healthCheck === undefined ? undefined : toHealthCheck(healthCheck),
    budget: toBudget(retryBudget),
    onExhausted: retryBudget.onExhausted,
    maxInflightRequests: circuitBreaker.maxInflightRequests,
    onOverflow: circuitBreaker.onOverflow,
    circuitBreaker: toCircuitBreaker(circuitBreaker),
    outliers: outlierDetection === undefined ? undefined : toOutliers(outlierDetection),
  };
}

function toTls(
  { serverName, ca, cert, key, verify }: FileUpstreamTls,
  resolve: (path: string) => string,
): UpstreamTlsConfig {
  const at = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(path));
  return { serverName, caFile: at(ca), certFile: at(cert), keyFile: at(key), verify };
}

function toHealthCheck({ path, interval, timeout, ...rest }: FileHealthCheck): HealthCheckConfig {
  const { healthyAfter, unhealthyAfter, expectedStatus } = rest;
  return { path, intervalMs: interval, timeoutMs: timeout, healthyAfter, unhealthyAfter, expectedStatus };
}

function toShare({ weight, priority, domain }: Omit<FileEndpoint, 'address' | 'dns'>): EndpointShare {
  return { weight, priority, domain };
}

/** It opens only where the file says when. */
export function toCircuitBreaker(breaker: FileCircuitBreaker): CircuitBreakerOptions | undefined {
  const { consecutiveFailures, failurePercent, minRequests, halfOpenRequests } = breaker;
  if (consecutiveFailures === undefined && failurePercent === undefined) return undefined;
  return {
    consecutiveFailures,
    failurePercent,
    minRequests,
    windowMs: breaker.window,
    openForMs: breaker.openFor,
    maxOpenForMs: breaker.maxOpenFor,
    halfOpenRequests,
  };
}

function toOutliers(detection: FileOutlierDetection): OutlierDetectionOptions {
  const { consecutiveFailures, failurePercent, minRequests, maxEjectionPercent } = detection;
  return {
    consecutiveFailures,
    failurePercent,
    minRequests,
    windowMs: detection.window,
    baseEjectionMs: detection.baseEjection,
    maxEjectionMs: detection.maxEjection,
    maxEjectionPercent,
  };
}

export function toBudget(budget: FileRetryBudget): BudgetConfig {
  const fallback = defaults.retryBudget;
  switch (budget.kind) {
    case 'none':
      return { kind: 'none' };
    case 'throttle':
      return {
        kind: 'throttle',
        maxTokens: budget.maxTokens ?? fallback.maxTokens,
        tokenRatio: budget.tokenRatio ?? fallback.tokenRatio,
      };
    case 'ratio':
    case 'token-bucket':
      return {
        kind: budget.kind,
        percent: budget.percent ?? fallback.percent,
        intervalMs: budget.interval ?? durationMs(fallback.interval),
        minRetryRate: {
          count: budget.minRetryRate?.count ?? fallback.minRetryRate.count,
          intervalMs: budget.minRetryRate?.interval ?? durationMs(fallback.minRetryRate.interval),
        },
      };
  }
}

/** @throws Error when the text is no duration: only for the texts of `defaults.ts`. */
function durationMs(text: string): number {
  const reading = readDuration(text);
  if (!reading.ok) throw new Error(`default ${text}: ${reading.message}`);
  return reading.value;
}

function toRoute(
  { name, match, upstream, timeouts, retry, replayBuffer, hedge, rewrite, upgrade }: FileRoute,
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
  };
}

export function toRetry(retry: FileRoute['retry']): RouteRetry {
  return {
    maxRetries: retry.attempts,
    codes: retry.codes,
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
