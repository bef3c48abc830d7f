import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { OutlierDetectionOptions } from '../core/outlier-detection.ts';
import { pathAllowance } from '../core/ownership/path-allowance.ts';
import { defaults } from './defaults.ts';
import type {
  BudgetConfig,
  EndpointShare,
  HealthCheckConfig,
  UpstreamConfig,
  UpstreamTlsConfig,
} from './gateway-config.ts';
import type {
  FileCircuitBreaker,
  FileEndpoint,
  FileHealthCheck,
  FileOutlierDetection,
  FileRetryBudget,
  FileUpstream,
  FileUpstreamOwnership,
  FileUpstreamTls,
} from './gateway-file.ts';
import type { UpstreamOwnership } from './ownership-config.ts';
import { readDuration } from './quantity.ts';

/** @param resolve Makes the paths of other files absolute. */
export function toUpstream(
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
    budget: withPathAllowance(toBudget(retryBudget), rest.ownership?.hops),
    onExhausted: retryBudget.onExhausted,
    maxInflightRequests: circuitBreaker.maxInflightRequests,
    onOverflow: circuitBreaker.onOverflow,
    circuitBreaker: toCircuitBreaker(circuitBreaker),
    outliers: outlierDetection === undefined ? undefined : toOutliers(outlierDetection),
    ...(rest.ownership === undefined ? {} : { ownership: toOwnership(rest.ownership) }),
  };
}

function toOwnership({ trusted, mode, hops }: FileUpstreamOwnership): UpstreamOwnership {
  return { trusted, mode, hops };
}

/** Budgets count whole percents; what is cut off is load that is not added. */
function withPathAllowance(budget: BudgetConfig, hops = 1): BudgetConfig {
  if (budget.kind === 'none' || budget.kind === 'throttle') return budget;
  const { share } = pathAllowance(budget.percent / 100, hops, 1);
  // 1.2² − 1 is a little less than 0.44 where numbers are binary.
  return { ...budget, percent: Math.floor(share * 100 + 1e-9) };
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
export function durationMs(text: string): number {
  const reading = readDuration(text);
  if (!reading.ok) throw new Error(`default ${text}: ${reading.message}`);
  return reading.value;
}
