import { z } from 'zod';
import { circuitBreaker } from './circuit-breaker-schema.ts';
import { defaults } from './defaults.ts';
import type { FileRetryBudget, FileUpstream } from './gateway-file.ts';
import { healthCheck } from './health-check-schema.ts';
import { loadBalancing } from './load-balancing-schema.ts';
import { outlierDetection } from './outlier-schema.ts';
import { upstreamOwnership } from './ownership-schema.ts';
import { address, choice, count, duration, name, note, positiveDuration, window } from './schema-parts.ts';
import { upstreamTls } from './upstream-tls-schema.ts';

const endpoint = z.strictObject({
  address: address('host:port of a server; this or `dns`.', 'endpoint').optional(),
  dns: address(
    'name:port of servers: every IPv4 and IPv6 address that the name has is an endpoint. Asked in the background, never for a request; when it cannot be answered, the last addresses stay for an hour. Link-local, multicast and unspecified addresses are refused.',
    'endpoint',
  ).optional(),
  refresh: window(
    'How often `dns` is asked, 1s to 1h; the time to live of an answer is not looked at. Default 10s.',
  ).optional(),
  weight: count('Share of the traffic relative to the others of the same priority; 0: none.', 0, 1000).prefault(
    defaults.endpoint.weight,
  ),
  priority: count('0 is used first; a higher number only while no lower one can be picked.', 0, 100).prefault(
    defaults.endpoint.priority,
  ),
  domain: name(
    'What fails together with it: a zone, a rack. A retry goes to another domain while there is one.',
  ).optional(),
});

const endpointOrAddress = z.preprocess((input) => (typeof input === 'string' ? { address: input } : input), endpoint);

const connect = z.strictObject({
  timeout: duration('Longest time to open a connection; 0s disables.').prefault(defaults.connect.timeout),
  idleTimeout: positiveDuration(
    'How long an unused connection is kept; keep it below the keep-alive time of the servers.',
  ).prefault(defaults.connect.idleTimeout),
  maxConnections: count('Connections to one endpoint.', 1, 100_000).prefault(defaults.connect.maxConnections),
  maxRequestsPerConnection: count(
    'A connection is closed after so many requests; 0: never.',
    0,
    1_000_000_000,
  ).prefault(defaults.connect.maxRequestsPerConnection),
});

const minRetryRate = z.strictObject({
  count: count('Retries that are always allowed per interval.', 0, 1_000_000).prefault(
    defaults.retryBudget.minRetryRate.count,
  ),
  interval: window('The interval of `count`, 1s to 1h.').prefault(defaults.retryBudget.minRetryRate.interval),
});

export const retryBudget: z.ZodType<FileRetryBudget> = z.strictObject({
  kind: choice(
    '`ratio` and `token-bucket`: a share of the requests; `throttle`: tokens that failures take and successes give; `none`: no limit.',
    ['ratio', 'token-bucket', 'throttle', 'none'],
  ).prefault(defaults.retryBudget.kind),
  percent: note(
    z.int().min(0).max(100),
    'Retries as a share of requests, a whole number from 0 to 100. For ratio and token-bucket. Default 20.',
    'a whole number from 0 to 100, without a % sign',
  ).optional(),
  interval: window('How long a request counts, 1s to 1h. For ratio and token-bucket. Default 10s.').optional(),
  minRetryRate: note(
    minRetryRate.optional(),
    'Retries allowed however few requests there are. For ratio and token-bucket.',
    'for example { count: 10, interval: 1s }',
  ),
  maxTokens: count(
    'Tokens at the start and at most; retries stop at half. For throttle. Default 10.',
    1,
    1000,
  ).optional(),
  tokenRatio: note(
    z.number().min(0.001).max(1000),
    'Tokens a success gives back. For throttle. Default 0.1.',
  ).optional(),
  onExhausted: choice("`original`: deliver the last response. `'503'`: answer 503.", ['original', '503']).prefault(
    defaults.retryBudget.onExhausted,
  ),
});

/** A group of servers. */
export const upstream: z.ZodType<FileUpstream> = z.strictObject({
  endpoints: note(
    z.array(endpointOrAddress).min(1).max(10_000),
    'The servers, as host:port, { address, weight, priority, domain } or { dns, refresh, weight, priority, domain }.',
    'a list: [127.0.0.1:9001, 127.0.0.1:9002]',
  ),
  protocol: choice(
    'What the servers speak. `http2` without `tls`: by prior knowledge; with it, a server that does not agree to HTTP/2 is not spoken to. `auto`: what the server chooses in the TLS handshake; without `tls`, HTTP/1.1.',
    ['http1', 'http2', 'auto'],
  ).prefault(defaults.protocol),
  tls: note(
    upstreamTls.optional(),
    'TLS to the endpoints. {} is enough where their certificates are signed by an authority that this machine trusts. Left out: plain text.',
    'for example { ca: ca.pem }',
  ),
  loadBalancing,
  connect: note(connect.prefault({}), 'Connections to the endpoints.'),
  retryBudget: note(retryBudget.prefault({}), 'The limit of retries, shared by every route that uses this upstream.'),
  circuitBreaker: note(
    circuitBreaker.prefault({}),
    'The limit of requests in flight; and when to stop sending for a while, route by route: left out, never.',
  ),
  outlierDetection: note(
    outlierDetection.optional(),
    'Taking endpoints that keep failing out of the choice for a while. Left out: none is; {} takes the defaults.',
    'for example { consecutiveFailures: 5, baseEjection: 30s }',
  ),
  ownership: note(
    upstreamOwnership.optional(),
    'Whether its claims about errors are believed. `trusted` stands for { trusted: true }.',
    'write trusted, or for example { trusted: true, mode: observe }',
  ),
  healthCheck: note(
    healthCheck.optional(),
    'Asking the endpoints whether they are well. Left out: they are not asked. When all are unhealthy, all are used.',
    'for example { path: /healthz, interval: 5s }',
  ),
});
