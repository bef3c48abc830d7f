import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileRoute } from './gateway-file.ts';
import { hostPattern, method, routePath, upgradeProtocol } from './match-parts.ts';
import { routeOwnership } from './ownership-schema.ts';
import type { RetryCode } from './retry-code.ts';
import { readRetryCode } from './retry-code.ts';
import { fieldMatch, rewrite, targets } from './route-target-schema.ts';
import { choice, count, duration, name, note, part, positiveDuration, size } from './schema-parts.ts';

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
  headers: note(
    z.record(z.string().meta({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }), fieldMatch).optional(),
    'Header fields that must all be there with these values; names in any case.',
    'for example { x-tier: gold }',
  ),
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

export const retry: z.ZodType<FileRoute['retry']> = z.strictObject({
  attempts: count('Retries: sends beyond the first. 0 switches every retry off.', 0, 100).prefault(
    defaults.retry.attempts,
  ),
  codes: note(
    z.array(
      part<RetryCode>(
        'A response status, 400 to 599, or `grpc: [...]` with statuses of gRPC, such as `unavailable`.',
        { type: ['integer', 'object'] },
        readRetryCode,
      ),
    ),
    'Response statuses that are retried, for idempotent or keyed requests. A status of gRPC counts where the response head carries it: in an answer without a body.',
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

const hedge = z.strictObject({
  delay: positiveDuration(
    'A copy is sent when there is no response head after this time; about the 95th percentile is a good value. Only idempotent or keyed requests without a body, or with one that is kept whole, and only within the retry budget, of which the minimum rate is not for copies.',
  ),
  max: count('Copies of one request, beside its retries.', 1, 10).prefault(defaults.hedge.max),
});

/** Which requests go where, and how. */
export const route: z.ZodType<FileRoute> = z.strictObject({
  name: name('Names the route in records; left out: route-1, route-2, … by position.').optional(),
  match: note(match.prefault({}), 'What the route takes; left out: everything.'),
  upstream: targets,
  timeouts: note(timeouts.prefault({}), 'Limits of time.'),
  retry: note(retry.prefault({}), 'Left out: unsent, rejected and stale failures are retried, once.'),
  replayBuffer: size('Largest request body kept to be sent again; 0B keeps nothing.', 0, 1024 ** 3).prefault(
    defaults.replayBuffer,
  ),
  rewrite: note(
    rewrite.optional(),
    'Changes of the request on its way to the upstream.',
    'for example { host: upstream, prefix: / }',
  ),
  upgrade: note(
    z.array(upgradeProtocol('A protocol, such as `websocket`, in any case.')).min(1).optional(),
    'Protocols that a client may switch its connection to. The handshake is retried like any request without a body; after the 101 bytes go both ways as they are, until both sides have closed or nothing was said for `timeouts.idle`. A listener with `server: node` does this from Node.js 24.9 on. Left out: none, and an Upgrade field is not passed on.',
    'a list: [websocket]',
  ),
  connect: note(
    z.boolean(),
    'CONNECT opens a tunnel of plain bytes to an endpoint of the upstream, never to the address that the client names: a route may match that by `hosts`, and no more. No endpoint is asked in HTTP; one that cannot be reached is replaced by another. Otherwise CONNECT is answered 405.',
  ).prefault(false),
  idempotent: note(
    z.boolean(),
    'Your word that every request of this route may be done twice, whatever its method: POSTs that only read, such as calls of gRPC, are then retried like a GET, without an Idempotency-Key. Where it is not true, work is doubled. Otherwise methods and keys decide.',
  ).prefault(false),
  ownership: note(
    routeOwnership.optional(),
    'How claims about errors are taken on this route. Left out: as its upstream says, else as the file does.',
    'for example { mode: observe }',
  ),
  hedge: note(
    hedge.optional(),
    'A copy of a request that takes long, at another endpoint; the first good answer wins. Left out: none.',
    'for example { delay: 100ms, max: 1 }',
  ),
});
