import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Clock } from '../../../src/transport/clock.ts';
import { configOf } from '../../config/support.ts';
import type { Exposition } from '../../support/exposition.ts';
import { readExposition } from '../../support/exposition.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { connectRaw, requestRaw } from '../../support/raw-client.ts';
import type { RawResponse } from '../../support/raw-response.ts';

export interface RigParts {
  /** Settings of the admin interface besides its address, as YAML. */
  readonly admin?: string;
  readonly upstream?: string;
  readonly route?: string;
  readonly more?: string;
  /** Where the access log goes. Default: a file of its own. */
  readonly log?: string;
  readonly clock?: Clock;
}

export interface AdminRig {
  readonly gateway: Gateway;
  /** `host:port` of the listener and of the admin interface. */
  readonly address: string;
  readonly admin: string;
  /** Where the access log goes. */
  readonly log: string;
  configText(parts?: RigParts): string;
  /** What the admin interface answers. */
  ask(path: string, method?: string, headers?: Readonly<Record<string, string>>): Promise<RawResponse>;
  metrics(): Promise<Exposition>;
  /** How many read events at the moment. */
  gatewayReaders(): Promise<number>;
  events(query?: string): Promise<EventClient>;
}

export interface EventClient {
  readonly client: RawClient;
  /** Every event so far. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** The n-th event (1-based) of this type. */
  event(type: string, number?: number): Promise<Readonly<Record<string, unknown>>>;
}

/** A gateway with an admin interface in front of these origins; the first one is preferred. */
export async function startAdminRig(
  t: TestContext,
  origins: readonly string[],
  parts: RigParts = {},
): Promise<AdminRig> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-admin-'));
  const log = join(folder, 'log');
  const endpoints = origins.map((address, priority) => `{ address: '${address}', priority: ${priority} }`);
  const configText = (own: RigParts = parts): string => `listeners: [{ address: 127.0.0.1:0 }]
upstreams: { main: { endpoints: [${endpoints.join(', ')}]${own.upstream ?? ''} } }
routes: [{ name: all, upstream: main${own.route ?? ''} }]
accessLog: { path: '${own.log ?? log}' }
admin: { address: 127.0.0.1:0${own.admin ?? ''} }
${own.more ?? ''}
`;
  const gateway = createGateway(configOf(configText()), { clock: parts.clock });
  await gateway.start();
  t.after(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true });
  });
  const admin = gateway.adminAddress!;
  const metrics = async (): Promise<Exposition> =>
    readExposition((await requestRaw(admin, { target: '/metrics', headers: { Host: admin } })).text);
  return {
    gateway,
    address: gateway.addresses[0]!,
    admin,
    log,
    configText,
    ask: (path, method = 'GET', headers = {}) =>
      requestRaw(admin, { method, target: path, headers: { Host: admin, ...headers } }),
    metrics,
    gatewayReaders: async () => (await metrics()).value('mulligan_event_readers'),
    async events(query = '') {
      const client = await connectRaw(admin, { t });
      await client.sendRequest({ target: `/events${query}`, headers: { Host: admin } });
      await client.waitFor(() => client.received.includes('retry: 2000'), 'the stream to begin');
      return eventClient(client);
    },
  };
}

function eventClient(client: RawClient): EventClient {
  const all = (): Readonly<Record<string, unknown>>[] =>
    [...client.received.toString('utf8').matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event, data]) =>
      Object.assign(JSON.parse(data!) as Record<string, unknown>, { event }),
    );
  return {
    client,
    get events() {
      return all();
    },
    event: (type, number = 1) =>
      client.waitFor(() => all().filter((one) => one['event'] === type)[number - 1], `event ${number} of ${type}`),
  };
}
