// The package's own: what the client is built on is what it is measured against.
import { Agent, fetch as undiciFetch, interceptors, Pool, request } from '../../node_modules/undici/index.js';
import type { Dispatcher } from '../../node_modules/undici/index.js';

/** Sends one request and reads its answer to the end. */
export type Send = () => Promise<void>;

/** One way to send a request. What it needs is loaded only by the process that measures it. */
export interface Way {
  readonly title: string;
  /** What it is measured against, and how much of that it may cost. */
  readonly against?: { readonly name: WayName; readonly atMost: number } | undefined;
  /** Sends in flight at the same time; default `IN_FLIGHT`. */
  readonly inFlight?: number;
  /** How often the origin is asked for one request; default 1. */
  readonly sendsEach?: number;
  create(origin: string): Promise<Send>;
}

export const IN_FLIGHT = 50;

const names = [
  'pool',
  'ours',
  'undici-retry',
  'interceptor',
  'undici-fetch',
  'fetch',
  'wrap-fetch',
  'agent',
  'flaky',
  'node-fetch',
  'got',
  'ky',
  'axios',
] as const;
export type WayName = (typeof names)[number];
export const wayNames: readonly WayName[] = names;

const through =
  (dispatcher: Dispatcher, url: string): Send =>
  async () => {
    const { body } = await request(url, { dispatcher });
    await body.text();
  };

const pool = (origin: string): Pool => new Pool(origin, { connections: IN_FLIGHT });

export const ways: Readonly<Record<WayName, Way>> = {
  pool: {
    title: "undici.request on undici's Pool",
    create: async (origin) => through(pool(origin), `${origin}/`),
  },
  ours: {
    title: 'undici.request on createDispatcher()',
    against: { name: 'pool', atMost: 1 },
    async create(origin) {
      const { createDispatcher } = await import('../../src/client/index.ts');
      return through(createDispatcher(), `${origin}/`);
    },
  },
  agent: {
    title: "undici.request on undici's Agent",
    create: async (origin) => through(new Agent({ connections: IN_FLIGHT }), `${origin}/`),
  },
  'undici-retry': {
    title: "undici's Pool with its retry interceptor",
    create: async (origin) => through(pool(origin).compose(interceptors.retry()), `${origin}/`),
  },
  interceptor: {
    title: "undici's Pool with ours",
    against: { name: 'pool', atMost: 1.05 },
    async create(origin) {
      const { retry } = await import('../../src/client/index.ts');
      return through(pool(origin).compose(retry({ retry: { codes: [503] } })), `${origin}/`);
    },
  },
  'undici-fetch': {
    title: "undici.fetch on undici's Pool",
    async create(origin) {
      const dispatcher = pool(origin);
      return async () => void (await (await undiciFetch(`${origin}/`, { dispatcher })).text());
    },
  },
  fetch: {
    title: 'fetch of mulligan',
    against: { name: 'undici-fetch', atMost: 1 },
    async create(origin) {
      const { createDispatcher, fetch } = await import('../../src/client/index.ts');
      const dispatcher = createDispatcher();
      return async () => void (await (await fetch(`${origin}/`, { dispatcher })).text());
    },
  },
  'node-fetch': {
    title: "Node's fetch",
    create: async (origin) => async () => void (await (await globalThis.fetch(`${origin}/`)).text()),
  },
  'wrap-fetch': {
    title: "Node's fetch in wrapFetch",
    against: { name: 'node-fetch', atMost: Infinity },
    async create(origin) {
      const { wrapFetch } = await import('../../src/client/fetch/index.ts');
      const wrapped = wrapFetch(globalThis.fetch, { retry: { codes: [503] } });
      return async () => void (await (await wrapped(`${origin}/`)).text());
    },
  },
  flaky: {
    title: 'createDispatcher(), 3 of 10 retried: a send',
    against: { name: 'ours', atMost: 1.1 },
    // Some wait for their retry: as many as before are under way beside them.
    inFlight: 2 * IN_FLIGHT,
    sendsEach: 1.3,
    async create(origin) {
      const { createDispatcher } = await import('../../src/client/index.ts');
      const retry = { maxRetries: 1, codes: [503], backoffMs: 10 };
      const dispatcher = createDispatcher({ connections: IN_FLIGHT, retry, budget: { kind: 'ratio', percent: 100 } });
      return through(dispatcher, `${origin}/flaky`);
    },
  },
  got: {
    title: 'got',
    against: { name: 'ours', atMost: Infinity },
    async create(origin) {
      const [{ default: got }, { Agent: HttpAgent }] = await Promise.all([import('got'), import('node:http')]);
      const agent = { http: new HttpAgent({ keepAlive: true, maxSockets: IN_FLIGHT }) };
      return async () => void (await got(`${origin}/`, { agent }).text());
    },
  },
  ky: {
    title: "ky on Node's fetch",
    against: { name: 'fetch', atMost: Infinity },
    async create(origin) {
      const { default: ky } = await import('ky');
      return async () => void (await ky(`${origin}/`).text());
    },
  },
  axios: {
    title: 'axios',
    against: { name: 'ours', atMost: Infinity },
    async create(origin) {
      const [{ default: axios }, { Agent: HttpAgent }] = await Promise.all([import('axios'), import('node:http')]);
      const httpAgent = new HttpAgent({ keepAlive: true, maxSockets: IN_FLIGHT });
      return async () => void (await axios.get(`${origin}/`, { httpAgent, responseType: 'text' }));
    },
  },
};
