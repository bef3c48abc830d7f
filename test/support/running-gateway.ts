import type { TestContext } from 'node:test';
import { formatFault } from '../../src/config/fault.ts';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import { parseConfig } from '../../src/config/parse.ts';
import type { GatewayState } from '../../src/gateway/build.ts';
import { buildState, commitState, prepareState, retireState } from '../../src/gateway/build.ts';
import { readListenerTls } from '../../src/gateway/listener-tls.ts';
import { createRouteHooks } from '../../src/gateway/route-hooks.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import type { Clock } from '../../src/transport/clock.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import type { OriginScript } from './origin-script.ts';
import { connectRaw, type RawClient } from './raw-client.ts';
import { startOrigin, type ScriptedOrigin } from './scripted-origin.ts';
import { createSignal } from './signal.ts';

/** A gateway in this process, on a free port, made from a gateway file. */
export interface RunningGateway {
  readonly server: ServerEngine;
  /** Of the first listener. */
  readonly port: number;
  portOf(listener: string): number;
  /** `host:port` */
  readonly address: string;
  /** Access records so far, in the order in which requests ended. */
  readonly records: readonly AccessRecord[];
  /** The n-th access record (1-based), as soon as it is written. */
  record(number?: number): Promise<AccessRecord>;
  /** Lines for people: one a retry, one a failed request. */
  readonly diagnostics: readonly string[];
  /** What is live of the configuration. */
  readonly state: GatewayState;
  connect(): Promise<RawClient>;
  close(): Promise<void>;
}

export type FileObject = Readonly<Record<string, unknown>>;

/** Parts of a gateway file; what is left out is the default. */
export interface GatewayParts {
  readonly upstream?: FileObject;
  readonly route?: FileObject;
  readonly limits?: FileObject;
  readonly top?: FileObject;
}

/**
 * Endpoints by address; the first is preferred and the others are used in order, when those before them are excluded, so
 * that a test knows who is asked first. `upstream.endpoints` overrides that.
 */
export function gatewayFile(addresses: readonly string[], parts: GatewayParts = {}): FileObject {
  return {
    listeners: [{ address: '127.0.0.1:0', limits: parts.limits ?? {} }],
    upstreams: {
      main: { endpoints: addresses.map((address, priority) => ({ address, priority })), ...parts.upstream },
    },
    routes: [{ upstream: 'main', ...parts.route }],
    accessLog: { path: '-' },
    ...parts.top,
  };
}

/** Which HTTP/1.1 server faces the client; every rule holds on both. */
export type ServerEngine = 'own' | 'node';

export async function startGateway(
  t: TestContext,
  file: FileObject,
  options: ServeOptions = {},
): Promise<RunningGateway> {
  // JSON is YAML: the tests go through the same door as a user's file.
  const parsed = parseConfig(JSON.stringify(file), 'gateway.yaml');
  if (!parsed.ok) throw new Error(parsed.faults.map((fault) => formatFault(fault)).join('\n'));
  return serveConfig(t, parsed.config, options);
}

/** What a gateway of a test stands on instead of the machine. */
export interface ServeOptions {
  /** Default: the machine's time. */
  readonly clock?: Clock;
  /** Default: as `MULLIGAN_TEST_SERVER` or the file says. */
  readonly server?: ServerEngine;
  /** Uniform in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
  /** Answers for names. Given, what works in the background is begun, and the first answers are awaited. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

/** A gateway of a configuration, with every listener of it open. */
export async function serveConfig(
  t: TestContext,
  config: GatewayConfig,
  options: ServeOptions = {},
): Promise<RunningGateway> {
  const signal = createSignal();
  const records: AccessRecord[] = [];
  const diagnostics: string[] = [];
  const clock = options.clock ?? createSystemClock();
  const { resolve } = options;
  const state = buildState(config, clock, undefined, resolve === undefined ? {} : { resolve });
  if (resolve !== undefined) {
    await prepareState(state);
    commitState(state);
  }
  const hooks = createRouteHooks(
    () => state,
    (record) => {
      records.push(record);
      signal.changed();
    },
  );
  const proxy = createProxy(hooks, {
    ownership: () => state.ownership,
    clock,
    random: options.random,
    replayMemory: config.replayMemoryBytes,
    diagnostics: (level, text) => diagnostics.push(`${level} ${text}`),
  });
  const server = options.server ?? engineUnderTest() ?? config.listeners[0]!.server;
  const ports = new Map<string, number>();
  for (const { address: wanted, limits, name, tls } of config.listeners) {
    const listening = await proxy.listen(wanted, { server, limits, name, tls: readListenerTls(tls) });
    ports.set(name ?? wanted.key, listening.address.port);
  }
  const port = [...ports.values()][0]!;

  let closing: Promise<void> | undefined;
  const gateway: RunningGateway = {
    server,
    port,
    portOf: (listener) => ports.get(listener)!,
    address: `127.0.0.1:${port}`,
    records,
    diagnostics,
    state,
    record: (number = 1) =>
      signal.until(() => records[number - 1], {
        what: `access record ${number}`,
        describe: () => [...records.map((one) => JSON.stringify(one)), ...diagnostics].join('\n'),
      }),
    connect: () => connectRaw(port, { t }),
    close() {
      closing ??= proxy.close().then(() => retireState(state));
      return closing;
    },
  };
  t.after(() => gateway.close());
  return gateway;
}

/** `MULLIGAN_TEST_SERVER=node` runs the suite on the safe mode; without it the file's `server` decides, as for users. */
function engineUnderTest(): ServerEngine | undefined {
  const name = process.env['MULLIGAN_TEST_SERVER'];
  return name === 'own' || name === 'node' ? name : undefined;
}

export interface Rig {
  readonly origins: readonly ScriptedOrigin[];
  /** The first origin. */
  readonly origin: ScriptedOrigin;
  readonly gateway: RunningGateway;
  readonly client: RawClient;
}

/** One origin, a gateway in front of it, and a client connected to that. */
export function startRig(t: TestContext, script: OriginScript, parts: GatewayParts = {}): Promise<Rig> {
  return startRigOf(t, [script], parts);
}

/** The same with several origins; the first one is preferred. */
export async function startRigOf(
  t: TestContext,
  scripts: readonly OriginScript[],
  parts: GatewayParts = {},
): Promise<Rig> {
  const origins = await Promise.all(scripts.map((script) => startOrigin(script, { t })));
  const gateway = await startGateway(
    t,
    gatewayFile(
      origins.map((origin) => origin.address),
      parts,
    ),
  );
  return { origins, origin: origins[0]!, gateway, client: await gateway.connect() };
}
