import type { LinkStart } from '../../src/cli/chain/link-process.ts';

/** What stands in a chain: how a service is written, and how it takes part. */
export type ServiceKind = keyof typeof KINDS;

const framework = new URL('links/framework-link.ts', import.meta.url);
const raw = new URL('links/raw-link.ts', import.meta.url);

const registered = { registered: true, program: framework } as const;
const adapted = { registered: false, program: framework } as const;
const stranger = { registered: false, program: raw } as const;

const KINDS = {
  /** On node:http, as it was before anybody heard of error ownership. */
  plain: { registered: false },
  /** The same with `--import mulligan/register`. */
  registered: { registered: true },
  express: { ...registered, environment: { LINK_FRAMEWORK: 'express' } },
  fastify: { ...registered, environment: { LINK_FRAMEWORK: 'fastify' } },
  hono: { ...registered, environment: { LINK_FRAMEWORK: 'hono' } },
  /** Calls by undici with mulligan's interceptor. */
  interceptor: { ...registered, environment: { LINK_CALLER: 'interceptor' } },
  /** Calls by Node's fetch with mulligan around it. */
  layer: { ...registered, environment: { LINK_CALLER: 'layer' } },
  'node-adapter': { ...adapted, environment: { LINK_ADAPTER: 'yes' } },
  'express-adapter': { ...adapted, environment: { LINK_FRAMEWORK: 'express', LINK_ADAPTER: 'yes' } },
  'fastify-adapter': { ...adapted, environment: { LINK_FRAMEWORK: 'fastify', LINK_ADAPTER: 'yes' } },
  'hono-adapter': { ...adapted, environment: { LINK_FRAMEWORK: 'hono', LINK_ADAPTER: 'yes' } },
  /** For what it learns of its edges, each request is a second. */
  learning: { ...adapted, environment: { LINK_ADAPTER: 'yes', LINK_CLOCK: 'yes' } },
  /** The same, told that it needs whatever it calls: what it learns has no say then. */
  blaming: { ...adapted, environment: { LINK_ADAPTER: 'yes', LINK_CLOCK: 'yes', LINK_NEEDS: 'all' } },
  /** As the one that learns, for another measurement: it must not begin with what that one learned. */
  naming: { ...adapted, environment: { LINK_ADAPTER: 'yes', LINK_CLOCK: 'yes' } },
  'raw-passes': { ...stranger, environment: { RAW_CLAIM: 'passes' } },
  'raw-drops': { ...stranger, environment: { RAW_CLAIM: 'drops' } },
  'raw-relays': { ...stranger, environment: { RAW_CLAIM: 'relays' } },
} as const satisfies Readonly<Record<string, Omit<LinkStart, 'name'>>>;

export function startOf(kind: ServiceKind, name: string, cacheFolder: string): LinkStart {
  return { ...KINDS[kind], name, cacheFolder };
}
