import type { LoadBalancing } from '../core/load-balancing.ts';
import type { BackoffCurve, Jitter, RetryTrigger } from '../core/retry-policy.ts';
import type { HostPort } from './address.ts';
import type { RetryCode } from './retry-code.ts';

/** A gateway file that passed the schema: the file's own words, defaults filled in, durations in milliseconds, sizes in bytes. */
export interface GatewayFile {
  listeners: FileListener[];
  upstreams: Record<string, FileUpstream>;
  routes: FileRoute[];
  retryOfRetry: boolean;
  replayMemory: number;
  accessLog: { path: string };
  shutdown: { drain: number; delay: number };
  ownership?: FileOwnership | undefined;
  admin?: FileAdmin | undefined;
  tracing?: FileTracing | undefined;
}

export type FileOwnershipMode = 'off' | 'observe' | 'enforce';

export interface FileOwnership {
  mode: FileOwnershipMode;
  trust: string[];
  service?: string | undefined;
  margin: number;
  alias: boolean;
  probeEvery: number;
}

export interface FileUpstreamOwnership {
  trusted: boolean;
  mode?: FileOwnershipMode | undefined;
  hops?: number | undefined;
}

export interface FileRouteOwnership {
  mode: FileOwnershipMode;
}

export interface FileTracing {
  /** With the path of traces. */
  otlp: string;
  sample: 'parent' | 'always' | { ratio: number };
  service: string;
  headers: Record<string, FileSecret>;
}

/** Where a secret is: one of the two. */
export interface FileSecret {
  file?: string | undefined;
  env?: string | undefined;
}

export interface FileAdmin {
  address: HostPort;
  public: boolean;
  write: boolean;
  hosts: string[];
  token?: FileSecret | undefined;
}

export interface FileListener {
  address: HostPort;
  server: 'own' | 'node';
  limits: {
    headerBytes: number;
    headerTimeout: number;
    bodyIdle: number;
    keepAlive: number;
    maxConnections: number;
    maxStreams: number;
  };
  tls?: FileListenerTls | undefined;
}

/** Either one pair, or several; files are named as the file names them. */
export interface FileListenerTls {
  cert?: string | undefined;
  key?: string | undefined;
  certificates?: { hosts: string[]; cert: string; key: string }[] | undefined;
  clientCa?: string | undefined;
}

export interface FileUpstream {
  endpoints: FileEndpoint[];
  protocol: 'http1' | 'http2' | 'auto';
  tls?: FileUpstreamTls | undefined;
  loadBalancing: FileLoadBalancing;
  connect: { timeout: number; idleTimeout: number; maxConnections: number; maxRequestsPerConnection: number };
  retryBudget: FileRetryBudget;
  healthCheck?: FileHealthCheck | undefined;
  circuitBreaker: FileCircuitBreaker;
  outlierDetection?: FileOutlierDetection | undefined;
  ownership?: FileUpstreamOwnership | undefined;
}

/** Files are named as the file names them. */
export interface FileUpstreamTls {
  serverName?: string | undefined;
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  verify: boolean;
}

export interface FileEndpoint {
  /** One of `address` and `dns`. */
  address?: HostPort | undefined;
  dns?: HostPort | undefined;
  refresh?: number | undefined;
  weight: number;
  priority: number;
  domain?: string | undefined;
}

export interface FileHealthCheck {
  path: string;
  interval: number;
  timeout: number;
  healthyAfter: number;
  unhealthyAfter: number;
  expectedStatus?: number[] | undefined;
}

export interface FileLoadBalancing {
  policy: LoadBalancing;
  /** For `consistent-hash`. */
  header?: string | undefined;
}

export interface FileCircuitBreaker {
  maxInflightRequests: number;
  onOverflow: 'original' | '503';
  consecutiveFailures?: number | undefined;
  failurePercent?: number | undefined;
  minRequests: number;
  window: number;
  openFor: number;
  maxOpenFor?: number | undefined;
  halfOpenRequests: number;
}

export interface FileOutlierDetection {
  consecutiveFailures?: number | undefined;
  failurePercent?: number | undefined;
  minRequests: number;
  window: number;
  baseEjection: number;
  maxEjection?: number | undefined;
  maxEjectionPercent: number;
}

export interface FileRetryBudget {
  kind: 'ratio' | 'token-bucket' | 'throttle' | 'none';
  percent?: number | undefined;
  interval?: number | undefined;
  minRetryRate?: { count: number; interval: number } | undefined;
  maxTokens?: number | undefined;
  tokenRatio?: number | undefined;
  onExhausted: 'original' | '503';
}

export interface FileRoute {
  name?: string | undefined;
  match: {
    hosts?: string[] | undefined;
    path?: { prefix?: string | undefined; exact?: string | undefined } | undefined;
    methods?: string[] | undefined;
    headers?: Record<string, string> | undefined;
  };
  upstream: FileTarget[];
  timeouts: { request: number; backendRequest: number; idle: number };
  retry: {
    attempts: number;
    codes: RetryCode[];
    on: RetryTrigger[];
    backoff: number;
    maxBackoff?: number | undefined;
    curve: BackoffCurve;
    jitter: Jitter;
    retryAfterMax: number;
  };
  replayBuffer: number;
  hedge?: { delay: number; max: number } | undefined;
  upgrade?: string[] | undefined;
  connect: boolean;
  ownership?: FileRouteOwnership | undefined;
  idempotent: boolean;
  rewrite?: FileRewrite | undefined;
}

export interface FileTarget {
  upstream: string;
  weight: number;
}

export interface FileRewrite {
  host?: string | undefined;
  prefix?: string | undefined;
}
