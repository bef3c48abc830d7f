import type { ServerName } from './servers.ts';

/** One request that a client of the demo makes. */
export interface RequestSpec {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Unique within the demo. */
  readonly path: string;
  /** Value of `Idempotency-Key`. */
  readonly key: string | undefined;
  readonly body: string | undefined;
}

/** One kind of trouble: its servers, what the gateway's file says about them, and the requests sent into it. */
export interface Scenario {
  /** Names the upstream and the route too; the paths begin with it. */
  readonly name: string;
  /** What is wrong. */
  readonly trouble: string;
  /** The same in a few words. */
  readonly label: string;
  /** The rule that matters here. */
  readonly rule: string;
  readonly servers: readonly ServerName[];
  /** The route's `retry:`, as YAML; undefined: the defaults. */
  readonly retry: string | undefined;
  /** The upstream's `retryBudget:`, as YAML; undefined: the defaults. */
  readonly retryBudget: string | undefined;
  /** Nothing can succeed here: what counts is what the servers are spared. */
  readonly hopeless: boolean;
  readonly requests: readonly RequestSpec[];
}

/** The retry budget of the hopeless scenario: retries per 100 requests, and retries allowed in any case. */
export const outageBudget: { readonly percent: number; readonly reserveCount: number } = {
  percent: 20,
  reserveCount: 2,
};

/** Every trouble of the demo, in the order of the show. */
export const scenarios: readonly Scenario[] = [
  scenario(
    'fine',
    'nothing is wrong',
    'Nothing is wrong',
    'One request, one send.',
    { servers: ['healthy'] },
    requests('fine', ['GET', 'PUT', 'POST']),
  ),
  scenario(
    'down',
    'a server refuses',
    'One of two servers is down: its port refuses connections',
    'Nothing was sent, so any request may go elsewhere, a POST too. The dead one then gets a break.',
    { servers: ['closed', 'healthy'] },
    requests('down', ['POST', 'GET', 'PUT', 'POST+key', 'GET', 'POST']),
  ),
  scenario(
    'crash',
    'a server resets',
    'One of two servers resets the connection in the middle of its answer',
    'It may have done the work: sent again is only what may be done twice. A POST needs a key for that.',
    { servers: ['crashing', 'healthy'], retry: '{ attempts: 1, on: [unsent, rejected, stale, reset] }' },
    requests('crash', ['GET', 'PUT', 'POST+key', 'POST', 'GET', 'PUT', 'POST+key']),
  ),
  scenario(
    'stale',
    'used connections die',
    'The server closes kept-alive connections when they are used again',
    'One free re-send on a fresh connection for what may be done twice.',
    { servers: ['closing'] },
    requests('stale', ['GET', 'GET', 'PUT', 'POST+key', 'POST', 'GET', 'GET']),
  ),
  scenario(
    'busy',
    '503 with Retry-After',
    'The server is busy at first: 503 with Retry-After: 0 (now), 1 (soon) or 30 (later)',
    'It waits as long as it was asked to. Longer than retryAfterMax: the client is told at once.',
    { servers: ['busy'], retry: '{ attempts: 2, codes: [503], retryAfterMax: 2s }' },
    [
      ...requests('busy/now', ['GET', 'PUT', 'POST+key', 'POST']),
      ...requests('busy/soon', ['GET']),
      ...requests('busy/later', ['GET']),
    ],
  ),
  scenario(
    'outage',
    '503 whatever happens',
    'Outage: the only server answers 503 to everything',
    'No retry can help. The budget ends retries before they multiply the load.',
    {
      servers: ['failing'],
      retry: '{ attempts: 2, codes: [503] }',
      retryBudget: `{ percent: ${outageBudget.percent}, interval: 10s, minRetryRate: { count: ${outageBudget.reserveCount}, interval: 10s } }`,
      hopeless: true,
    },
    requests(
      'outage',
      Array.from({ length: 20 }, () => 'GET'),
    ),
  ),
];

type Short = 'GET' | 'PUT' | 'POST' | 'POST+key';

function scenario(
  name: string,
  label: string,
  trouble: string,
  rule: string,
  setting: {
    readonly servers: readonly ServerName[];
    readonly retry?: string;
    readonly retryBudget?: string;
    readonly hopeless?: boolean;
  },
  list: readonly RequestSpec[],
): Scenario {
  const { servers, retry, retryBudget, hopeless = false } = setting;
  return { name, label, trouble, rule, servers, retry, retryBudget, hopeless, requests: list };
}

function requests(prefix: string, list: readonly Short[]): RequestSpec[] {
  return list.map((short, index) => {
    const path = `/${prefix}/${index + 1}`;
    const method = short === 'POST+key' ? 'POST' : short;
    return {
      method,
      path,
      key: short === 'POST+key' ? `key${path.replaceAll('/', '-')}` : undefined,
      body: method === 'GET' ? undefined : JSON.stringify({ order: path, items: ['tea', 'bread'] }),
    };
  });
}
