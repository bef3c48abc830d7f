import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileOwnership, FileRouteOwnership, FileUpstreamOwnership } from './gateway-file.ts';
import { readDuration } from './quantity.ts';
import { choice, count, name, note, part, type Part } from './schema-parts.ts';
import { readPeer } from './trust.ts';

export const OWNERSHIP_MODES = ['off', 'observe', 'enforce'] as const;

const MAX_MARGIN_MS = 60_000;

/** Kept for an answer's way back. */
export const margin = (description: string): Part<number> =>
  part(description, { type: 'string', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$' }, (input) => {
    const reading = readDuration(input);
    if (!reading.ok || reading.value <= MAX_MARGIN_MS) return reading;
    return { ok: false, message: 'is too long', hint: 'at most 60s' };
  });

/** A network, an address or a name. */
export const peer: Part<string> = part<string>('A network, an address or a name.', { type: 'string' }, readPeer);

const MODE_WORDS = '`enforce` obeys claims; `observe` counts what that would have changed; `off` does nothing.';

/** How the gateway takes part in error ownership. */
export const ownership: z.ZodType<FileOwnership> = z.strictObject({
  mode: choice(MODE_WORDS, OWNERSHIP_MODES).prefault(defaults.ownership.mode),
  trust: note(
    z.array(peer).max(1000),
    'Whose claims are read, and who is told ours: networks, addresses, and names, which stand for endpoints of that name and for clients with a verified certificate for it. Nobody else gets or gives one.',
    'a list: [10.0.0.0/8, orders.internal]',
  ).prefault([...defaults.ownership.trust]),
  service: name('What claims call this gateway, before the name of the route. Left out: they name nothing.').optional(),
  margin: margin(
    'Kept for the way back of an answer: upstreams are told so much less time, and a request whose caller would be gone by then is not begun.',
  ).prefault(defaults.ownership.margin),
  alias: note(z.boolean(), 'Whether `x-uber-error-claim` is written too.').prefault(defaults.ownership.alias),
  probeEvery: count(
    'In one of so many requests claims are not obeyed, to see whether the retry would have helped; 0: in none.',
    0,
    1_000_000,
  ).prefault(defaults.ownership.probeEvery),
});

const upstreamSettings = z.strictObject({
  trusted: note(
    z.boolean(),
    'Its endpoints are believed, whatever their addresses; they are told of attempts and time.',
  ).prefault(defaults.upstreamOwnership.trusted),
  mode: choice(`As \`ownership.mode\`, for this upstream: ${MODE_WORDS}`, OWNERSHIP_MODES).optional(),
  hops: count(
    'Hops of the path below that could each have retried within this `retryBudget`, and now leave that to the one next to the failure. Where that is this gateway, it may spend what all of them could have: the budget becomes (1 + percent)^hops − 1, and a request has two retries at least. Left out: its own budget.',
    2,
    99,
  ).optional(),
});

/** What is known of an upstream, and how it is dealt with. */
export const upstreamOwnership: z.ZodType<FileUpstreamOwnership> = z.preprocess(
  (input) => (input === 'trusted' ? { trusted: true } : input),
  upstreamSettings,
);

/** How a route takes part. */
export const routeOwnership: z.ZodType<FileRouteOwnership> = z.strictObject({
  mode: choice(`As \`ownership.mode\`, for this route, whatever its upstream says: ${MODE_WORDS}`, OWNERSHIP_MODES),
});
