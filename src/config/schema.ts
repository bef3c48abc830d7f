import { z } from 'zod';
import { admin } from './admin-schema.ts';
import { defaults } from './defaults.ts';
import type { GatewayFile } from './gateway-file.ts';
import { listener } from './listener-schema.ts';
import { ownership } from './ownership-schema.ts';
import { route } from './route-schema.ts';
import { choice, duration, namePattern, note, notYet, size } from './schema-parts.ts';
import { tracing } from './tracing-schema.ts';
import { upstream } from './upstream-schema.ts';

/**
 * The schema of a gateway file. It is the documentation too: `config.schema.json` is made from it, and every
 * description in it is what an editor shows. Only what is built can be written; the rest is refused by name.
 */
export const gatewayFile: z.ZodType<GatewayFile> = z.strictObject({
  listeners: note(
    z.array(listener).min(1).max(100),
    'Addresses to listen on.',
    'a list: [{ address: 127.0.0.1:8080 }]',
  ),
  admin: note(
    admin.optional(),
    'Metrics, health, live state and events for operators; without it there is none.',
    'write { address: 127.0.0.1:9901 }',
  ),
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
  ownership: note(
    ownership.optional(),
    'Which hop retries an error: claims of services are read and obeyed, and callers are told ours. Left out: nobody is trusted unless an upstream is said to be.',
    'for example { trust: [10.0.0.0/8], service: edge }',
  ),
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
      .preprocess(
        (input) => (typeof input === 'string' ? { path: input } : input),
        z.strictObject({
          path: z
            .string()
            .min(1)
            .max(4096)
            .meta({ description: "A file, '-' for standard output, or 'off' for no log." })
            .prefault(defaults.accessLog.path),
        }),
      )
      .prefault({}),
    "One JSON line a request. A text stands for its path; 'off' switches it off.",
    "write { path: '-' }, or off",
  ),
  tracing: note(
    tracing.optional(),
    'Traces for OpenTelemetry: a span a request and a span an attempt; without it trace contexts pass unchanged.',
    'write { otlp: http://127.0.0.1:4318 }',
  ),
  shutdown: note(
    z
      .strictObject({
        drain: duration('How long requests in flight may take to end.').prefault(defaults.shutdown.drain),
        delay: duration(
          'How long listeners still take connections after /readyz turned red, so that balancers see it first.',
        ).prefault(defaults.shutdown.delay),
      })
      .prefault({}),
    'What SIGTERM does.',
    'write { drain: 30s }',
  ),
});
