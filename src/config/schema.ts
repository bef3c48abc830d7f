import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { GatewayFile } from './gateway-file.ts';
import {
  address,
  choice,
  duration,
  hostPattern,
  method,
  name,
  namePattern,
  notYet,
  part,
  positiveDuration,
  routePath,
  size,
  window,
} from './schema-parts.ts';

/**
 * The schema of a gateway file. It is the documentation too: `config.schema.json` is made from it, and every
 * description below is what an editor shows. Only what is built can be written; the rest is refused by name.
 */

const count = (description: string, min: number, max: number): z.ZodInt =>
  z.int().min(min).max(max).meta({ description });
const note = <Type extends z.ZodType>(type: Type, description: string, hint?: string): Type =>
  type.meta(hint === undefined ? { description } : { description, hint });

const limits = z.strictObject({
  headerBytes: size('Largest request head: start line and header fields.', 1024, 1024 * 1024).prefault(
    defaults.limits.headerBytes,
  ),
  headerTimeout: positiveDuration('Longest time from the first byte of a request to the end of its head.').prefault(
    defaults.limits.headerTimeout,
  ),
  bodyIdle: positiveDuration('Longest silence of a client in the middle of a request body.').prefault(
    defaults.limits.bodyIdle,
  ),
  keepAlive: positiveDuration('How long an idle client connection stays open.').prefault(defaults.limits.keepAlive),
  maxConnections: count('Client connections open at once; more are closed as they come.', 1, 1_000_000).prefault(
    defaults.limits.maxConnections,
  ),
  maxStreams: notYet('a limit for HTTP/2'),
});

const listener = z.strictObject({
  address: address('host:port to listen on; IPv6 in brackets and quotes; port 0 takes any free port.', 'listener'),
  server: choice('`own`: the strict HTTP/1.1 server of mulligan. `node`: that of Node.js, the safe mode.', [
    'own',
    'node',
  ]).prefault(defaults.server),
  limits: note(limits.prefault({}), 'What one client may cost.'),
  tls: notYet('TLS listeners'),
});

const endpoint = z.strictObject({
  address: address('host:port of a server.', 'endpoint'),
  weight: count('Share of the traffic relative to the others of the same priority.', 1, 1000).prefault(
    defaults.endpoint.weight,
  ),
  priority: count('0 is used first; a higher number only while no lower one can be picked.', 0, 100).prefault(
    defaults.endpoint.priority,
  ),
  domain: notYet('failure domains'),
  dns: notYet('endpoints from DNS'),
  refresh: notYet('endpoints from DNS'),
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

const retryBudget = z.strictObject({
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

const circuitBreaker = z.strictObject({
  maxInflightRequests: count('Attempts in flight to the upstream; a retry needs a place too.', 1, 1_000_000).prefault(
    defaults.circuitBreaker.maxInflightRequests,
  ),
  onOverflow: choice("What a request without a place for its retry gets: `'503'`, or `original`, the last response.", [
    '503',
    'original',
  ]).prefault(defaults.circuitBreaker.onOverflow),
});

const upstream = z.strictObject({
  endpoints: note(
    z.array(endpointOrAddress).min(1).max(10_000),
    'The servers, as host:port or { address, weight, priority }.',
    'a list: [127.0.0.1:9001, 127.0.0.1:9002]',
  ),
  protocol: choice('What the servers speak.', ['http1'], ['http2', 'auto']).prefault(defaults.protocol),
  tls: notYet('TLS to upstreams'),
  loadBalancing: choice(
    'How an endpoint is chosen. `least-request`: the less busy of two picked at random.',
    ['least-request', 'round-robin', 'random'],
    ['consistent-hash'],
  ).prefault(defaults.loadBalancing),
  connect: note(connect.prefault({}), 'Connections to the endpoints.'),
  retryBudget: note(retryBudget.prefault({}), 'The limit of retries, shared by every route that uses this upstream.'),
  circuitBreaker: note(circuitBreaker.prefault({}), 'The limit of requests in flight.'),
  outlierDetection: notYet('ejecting failing endpoints'),
  healthCheck: notYet('active health checks'),
});

const pathMatch = z.strictObject({
  prefix: routePath(
    'Matches whole segments: /orders matches /orders, /orders/ and /orders/1, not /ordersx.',
  ).optional(),
  exact: routePath('Matches this path only.').optional(),
});

const match = z.strictObject({
  hosts: note(
    z.array(hostPattern('A host name, or `*.` and a name for everything below it.')).min(1).optional(),
    'Host names; left out: every host.',
    'a list: [shop.example]',
  ),
  path: note(
    pathMatch.optional(),
    'Either prefix or exact; left out: every path.',
    'write { prefix: /orders } or { exact: /orders }',
  ),
  methods: note(
    z.array(method('A method, in capitals.')).min(1).optional(),
    'Methods; left out: every method.',
    'a list: [GET, POST]',
  ),
  headers: notYet('matching on header fields'),
});

const timeouts = z.strictObject({
  request: duration('The whole request: every attempt and every wait. 0s disables.').prefault(
    defaults.timeouts.request,
  ),
  backendRequest: duration(
    'One attempt, from the ready connection to the first byte of the response; at most `request`. 0s disables.',
  ).prefault(defaults.timeouts.backendRequest),
  idle: duration('Longest silence in the middle of a response. 0s disables.').prefault(defaults.timeouts.idle),
});

const retry = z.strictObject({
  attempts: count('Retries: sends beyond the first. 0 switches every retry off.', 0, 100).prefault(
    defaults.retry.attempts,
  ),
  codes: note(
    z.array(count('A response status, 400 to 599.', 400, 599)),
    'Response statuses that are retried, for idempotent or keyed requests.',
    'a list: [502, 503, 504]',
  ).prefault([...defaults.retry.codes]),
  on: note(
    z.array(choice('A kind of failure.', ['unsent', 'rejected', 'stale', 'reset', 'timeout'])),
    'Failures that are retried. `reset` and `timeout` are ambiguous (the request may have been processed): only idempotent or keyed requests are sent again.',
    'a list: [unsent, rejected, stale]',
  ).prefault([...defaults.retry.on]),
  backoff: duration('The first wait.').prefault(defaults.retry.backoff),
  maxBackoff: duration('The longest wait. Default: the larger of 250ms and 10 × backoff.').optional(),
  curve: choice('How waits grow.', ['exponential', 'linear', 'fixed']).prefault(defaults.retry.curve),
  jitter: choice('How waits are scattered.', ['full', 'equal', 'decorrelated', 'none']).prefault(defaults.retry.jitter),
  retryAfterMax: duration('A longer Retry-After ends the request with the response that carries it.').prefault(
    defaults.retry.retryAfterMax,
  ),
});

const upstreamName = part('The upstream that serves it.', { type: 'string' }, (input) => {
  if (typeof input === 'string' && input !== '') return { ok: true, value: input };
  if (Array.isArray(input))
    return { ok: false, message: 'as a list (weighted targets) is not supported yet', hint: 'name one upstream' };
  return {
    ok: false,
    message: input === undefined ? 'is missing' : 'must be the name of an upstream',
    hint: 'for example upstream: orders',
  };
});

const route = z.strictObject({
  name: name('Names the route in records; left out: route-1, route-2, … by position.').optional(),
  match: note(match.prefault({}), 'What the route takes; left out: everything.'),
  upstream: upstreamName,
  timeouts: note(timeouts.prefault({}), 'Limits of time.'),
  retry: note(retry.prefault({}), 'Left out: unsent, rejected and stale failures are retried, once.'),
  replayBuffer: size('Largest request body kept to be sent again; 0B keeps nothing.', 0, 1024 ** 3).prefault(
    defaults.replayBuffer,
  ),
  rewrite: notYet('rewriting requests'),
  hedge: notYet('hedging'),
});

export const gatewayFile: z.ZodType<GatewayFile> = z.strictObject({
  listeners: note(
    z.array(listener).min(1).max(100),
    'Addresses to listen on.',
    'a list: [{ address: 127.0.0.1:8080 }]',
  ),
  admin: notYet('the admin listener'),
  upstreams: note(
    z.record(z.string().meta({ pattern: namePattern.source }), upstream),
    'Groups of servers by name.',
    'for example { orders: { endpoints: [127.0.0.1:9001] } }',
  ),
  routes: note(
    z.array(route).min(1).max(10_000),
    'Which requests go where; the first that matches wins.',
    'a list: [{ upstream: orders }]',
  ),
  ownership: notYet('error ownership'),
  retryOfRetry: note(z.boolean(), 'Whether a request that is itself a retry of a caller may be retried here.').prefault(
    defaults.retryOfRetry,
  ),
  replayMemory: size('Request bodies kept to be sent again, all requests together.', 0, 64 * 1024 ** 3).prefault(
    defaults.replayMemory,
  ),
  store: note(
    z
      .strictObject({ kind: choice('Where budgets live.', ['memory'], ['redis']), url: notYet('shared stores') })
      .optional(),
    'Where budgets live.',
    'write { kind: memory }',
  ),
  workers: note(z.literal(1).optional(), 'Processes; only 1 is supported yet.', 'only one process is supported yet'),
  accessLog: note(
    z
      .strictObject({
        path: z
          .string()
          .min(1)
          .max(4096)
          .meta({ description: "A file, or '-' for standard output." })
          .prefault(defaults.accessLog.path),
      })
      .prefault({}),
    'One JSON line a request.',
    "write { path: '-' }",
  ),
  tracing: notYet('tracing'),
  shutdown: note(
    z
      .strictObject({
        drain: duration('How long requests in flight may take to end.').prefault(defaults.shutdown.drain),
      })
      .prefault({}),
    'What SIGTERM does.',
    'write { drain: 30s }',
  ),
});
