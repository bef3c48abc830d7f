import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileHealthCheck } from './gateway-file.ts';
import type { Reading } from './quantity.ts';
import { count, note, part, positiveDuration } from './schema-parts.ts';

const checkPath = part<string>(
  'What is asked for, with GET: a path, and a query if need be.',
  { type: 'string', pattern: '^/' },
  (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    if (typeof input !== 'string')
      return bad(input === undefined ? 'is missing' : 'must be a path', 'for example /healthz');
    if (!input.startsWith('/'))
      return bad('does not begin with /', input.includes('://') ? 'write only the path' : `write /${input}`);
    if (input.length > 1024) return bad('is too long', 'at most 1024 characters');
    return /^[\x21\x24-\x7e]+$/.test(input)
      ? { ok: true, value: input }
      : bad(
          'holds a character that no request can carry',
          'percent-encode spaces, quotes and everything outside ASCII; leave out #',
        );
  },
);

/** Asking the endpoints themselves whether they are well. */
export const healthCheck: z.ZodType<FileHealthCheck> = z.strictObject({
  path: checkPath,
  interval: positiveDuration(
    'From one check of an endpoint to its next; the first comes at a random time within it.',
  ).prefault(defaults.healthCheck.interval),
  timeout: positiveDuration('Longest time of one check, connecting included; a slower one has failed.').prefault(
    defaults.healthCheck.timeout,
  ),
  healthyAfter: count('Checks in a row that must succeed before an unhealthy endpoint is used again.', 1, 100).prefault(
    defaults.healthCheck.healthyAfter,
  ),
  unhealthyAfter: count('Checks in a row that must fail before an endpoint is left out.', 1, 100).prefault(
    defaults.healthCheck.unhealthyAfter,
  ),
  expectedStatus: note(
    z
      .array(count('A response status, 200 to 599.', 200, 599))
      .min(1)
      .max(400)
      .optional(),
    'Statuses that mean well; left out: every 2xx.',
    'a list: [200, 204]',
  ),
});
