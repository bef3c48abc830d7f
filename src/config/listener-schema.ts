import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileListener } from './gateway-file.ts';
import { listenerTls } from './listener-tls-schema.ts';
import { address, choice, count, note, positiveDuration, size } from './schema-parts.ts';

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
  maxStreams: count('Requests open at once on one HTTP/2 connection; more are reset.', 1, 10_000).prefault(
    defaults.limits.maxStreams,
  ),
});

/** Where clients connect. */
export const listener: z.ZodType<FileListener> = z.strictObject({
  address: address('host:port to listen on; IPv6 in brackets and quotes; port 0 takes any free port.', 'listener'),
  server: choice(
    'What reads HTTP/1.1. `own`: the strict server of mulligan, which also knows HTTP/2 by its preface. `node`: that of Node.js, the safe mode.',
    ['own', 'node'],
  ).prefault(defaults.server),
  limits: note(limits.prefault({}), 'What one client may cost.'),
  tls: note(
    listenerTls.optional(),
    'Left out: plain text. With it: TLS 1.2 and 1.3, HTTP/2 for clients that ask for it, else HTTP/1.1.',
  ),
});
