import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { GrpcStatus } from '../core/grpc-statuses.ts';
import type { HedgePolicy } from '../core/hedging.ts';
import type { LoadBalancing } from '../core/load-balancing.ts';
import type { OutlierDetectionOptions } from '../core/outlier-detection.ts';
import type { BackoffPolicy, OwnershipMode, RetryTrigger } from '../core/retry-policy.ts';
import type { HostPort } from './address.ts';
import type { OwnershipConfig, UpstreamOwnership } from './ownership-config.ts';
import type { RouteFilters, RouteRefusal } from './route-filters.ts';

/** A gateway's configuration as typed data: checked, every default filled in, in the words of the code. Deep-equal configurations mean the same. */
export interface GatewayConfig {
  readonly listeners: readonly ListenerConfig[];
  readonly upstreams: readonly UpstreamConfig[];
  /** First match wins. */
  readonly routes: readonly RouteConfig[];
  /** Whether a request that is itself a retry of a caller may be retried here. */
  readonly retryOfRetry: boolean;
  /** Request bodies kept to be sent again, all requests together. */
  readonly replayMemoryBytes: number;
  /** A file, `-` for standard output, `off` for no log. */
  readonly accessLog: { readonly path: string };
  /** How long requests in flight may take to end when the gateway stops. */
  readonly drainMs: number;
  /** How long listeners stay open after readiness was withdrawn. */
  readonly drainDelayMs: number;
  /** Undefined: no admin interface. */
  readonly admin: AdminConfig | undefined;
  /** Undefined: nobody is trusted unless an upstream is said to be. */
  readonly ownership?: OwnershipConfig | undefined;
  /** Undefined: nothing is recorded, and trace contexts pass unchanged. */
  readonly tracing: TracingConfig | undefined;
}

export interface TracingConfig {
  /** Where spans are posted, whole. */
  readonly collectorUrl: string;
  /** `ratio`: above 0, at most 1. */
  readonly sampling: 'parent' | 'always' | { readonly ratio: number };
  readonly service: string;
  /** What the collector wants besides; the values are never part of a configuration. */
  readonly headers: readonly { readonly name: string; readonly source: SecretSource }[];
}

export interface AdminConfig {
  readonly address: HostPort;
  /** Whether requests may change something. */
  readonly write: boolean;
  /** Names that a `Host` may hold besides loopback and the address itself; lower case, without port. */
  readonly hosts: readonly string[];
  /** Where the bearer token is; the token itself is never part of a configuration. */
  readonly token: SecretSource | undefined;
}

export type SecretSource = { readonly file: string } | { readonly env: string };

export interface ListenerConfig {
  /** What `RouteMatch.listeners` calls it; a gateway file has no such names. */
  readonly name?: string;
  readonly address: HostPort;
  readonly server: 'own' | 'node';
  readonly limits: ListenerLimits;
  /** Left out: plain text. */
  readonly tls?: ListenerTlsConfig | undefined;
}

/** Where the files are; what is in them is never part of a configuration. */
export interface ListenerTlsConfig {
  /** At least one; the first one is for clients that ask for no name, or for an unknown one. */
  readonly certificates: readonly {
    /** Lower case; `*.` for one label more. */
    readonly hosts: readonly string[];
    readonly certFile: string;
    readonly keyFile: string;
  }[];
  /** Undefined: clients show no certificate. */
  readonly clientCaFile: string | undefined;
}

/** What one client may cost; every duration > 0. */
export interface ListenerLimits {
  readonly headerBytes: number;
  readonly headerTimeoutMs: number;
  readonly bodyIdleMs: number;
  readonly keepAliveMs: number;
  readonly maxConnections: number;
  /** Of one HTTP/2 connection. */
  readonly maxStreams: number;
}

export interface UpstreamConfig {
  readonly name: string;
  /** With fixed addresses. May be empty when there is a name below. */
  readonly endpoints: readonly EndpointSettings[];
  /** Names whose addresses are endpoints. */
  readonly dnsEndpoints: readonly DnsEndpointSettings[];
  /** Left out: HTTP/1.1. */
  readonly protocol?: 'http1' | 'http2' | 'auto';
  /** Left out: plain text. */
  readonly tls?: UpstreamTlsConfig | undefined;
  readonly loadBalancing: LoadBalancing;
  /** For `consistent-hash`: the request field whose value is hashed; undefined: the client's address. */
  readonly hashHeader: string | undefined;
  readonly connect: ConnectConfig;
  readonly healthCheck: HealthCheckConfig | undefined;
  readonly budget: BudgetConfig;
  /** What a request gets whose retry the budget refuses: its last response, or a 503. */
  readonly onExhausted: 'original' | '503';
  readonly maxInflightRequests: number;
  /** What a request gets that finds no permit, or an open circuit, for its retry. */
  readonly onOverflow: 'original' | '503';
  /** Undefined: no circuit opens. */
  readonly circuitBreaker: CircuitBreakerOptions | undefined;
  /** Undefined: no endpoint is ejected. */
  readonly outliers: OutlierDetectionOptions | undefined;
  readonly ownership?: UpstreamOwnership | undefined;
}

/** Files by their path; what is in them is never part of a configuration. */
export interface UpstreamTlsConfig {
  readonly serverName: string | undefined;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly verify: boolean;
}

export interface EndpointSettings extends EndpointShare {
  readonly address: HostPort;
}

export interface DnsEndpointSettings extends EndpointShare {
  readonly name: HostPort;
  readonly refreshMs: number;
}

/** How much traffic an endpoint gets, and when. */
export interface EndpointShare {
  /** 1–1000. */
  readonly weight: number;
  /** 0 first. */
  readonly priority: number;
  /** What fails together with it. */
  readonly domain: string | undefined;
}

/** Durations > 0, counts from 1. */
export interface HealthCheckConfig {
  /** With query. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly healthyAfter: number;
  readonly unhealthyAfter: number;
  /** `undefined`: every 2xx. */
  readonly expectedStatus: readonly number[] | undefined;
}

export interface ConnectConfig {
  /** 0: no limit. */
  readonly connectMs: number;
  readonly idleTimeoutMs: number;
  /** Per endpoint. */
  readonly maxConnections: number;
  /** 0: no limit. */
  readonly maxRequestsPerConnection: number;
}

export type BudgetConfig =
  | {
      readonly kind: 'ratio' | 'token-bucket';
      readonly percent: number;
      readonly intervalMs: number;
      readonly minRetryRate: { readonly count: number; readonly intervalMs: number };
    }
  | { readonly kind: 'throttle'; readonly maxTokens: number; readonly tokenRatio: number }
  | { readonly kind: 'none' };

export interface RouteConfig {
  readonly name: string;
  readonly match: RouteMatch;
  /** At least one, and one weight or more above 0, unless the route refuses or redirects everything. */
  readonly targets: readonly RouteTarget[];
  readonly refusals?: readonly RouteRefusal[];
  readonly filters?: RouteFilters;
  readonly rewrite: RouteRewrite | undefined;
  /** 0 disables. */
  readonly timeouts: { readonly requestMs: number; readonly attemptMs: number; readonly idleMs: number };
  readonly retry: RouteRetry;
  /** Largest request body kept to be sent again. */
  readonly replayBufferBytes: number;
  /** Undefined: no copy is ever sent. */
  readonly hedge: HedgePolicy | undefined;
  /** Protocols, in lower case, that a client may switch to. Undefined: none. */
  readonly upgrade?: readonly string[] | undefined;
  /** CONNECT opens a tunnel to the upstream. */
  readonly connect?: boolean;
  /** Undefined: that of its upstream, else of the file. */
  readonly ownershipMode?: OwnershipMode | undefined;
  /** The operator's word that any request of the route may be done twice. */
  readonly idempotent?: boolean;
}

/** What is `undefined` matches everything. */
export interface RouteMatch {
  /** Names of listeners. */
  readonly listeners?: readonly string[];
  /** All must be there: name and exact value of the first parameter of that name, both decoded. */
  readonly query?: readonly { readonly name: string; readonly value: string }[];
  /** Lower case; `*.example` for every name below `example`. */
  readonly hosts: readonly string[] | undefined;
  /** Canonical (see `canonical-path.ts`). */
  readonly path: { readonly kind: 'prefix' | 'exact'; readonly value: string } | undefined;
  readonly methods: readonly string[] | undefined;
  /** All must be there: lower-case name and exact value. */
  readonly fields: readonly { readonly name: string; readonly value: string }[] | undefined;
}

/** Where a share of a route's requests goes. */
export interface RouteTarget {
  readonly upstream: string;
  /** 0 to 1 000 000. */
  readonly weight: number;
}

/** What is `undefined` stays as the client sent it. */
export interface RouteRewrite {
  /** `endpoint`: the name of the endpoint that was picked. */
  readonly host: 'endpoint' | { readonly name: string } | undefined;
  /** Takes the place of the prefix that the route matched; canonical. */
  readonly prefix: string | undefined;
  /** Takes the place of the whole path, not of the query; canonical. */
  readonly fullPath?: string;
}

export interface RouteRetry {
  /** Sends beyond the first; 0 switches every retry off, the free stale one too. */
  readonly maxRetries: number;
  readonly codes: readonly number[];
  /** Absent: none. */
  readonly grpcStatuses?: readonly GrpcStatus[];
  readonly on: readonly RetryTrigger[];
  readonly backoff: BackoffPolicy;
  readonly retryAfterMaxMs: number;
}
