import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { TestContext } from 'node:test';
import type { GatewayConfig, UpstreamConfig } from '../../src/config/gateway-config.ts';
import type { Gateway, GatewayOptions } from '../../src/gateway/gateway.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { configOf } from '../config/support.ts';
import type { FileObject } from '../support/running-gateway.ts';
import { createSignal } from '../support/signal.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-live-'));
after(() => rmSync(folder, { recursive: true }));
let logCount = 0;

/** A configuration from the parts of a file, with what no file may say: intervals of milliseconds, for tests that wait for them. */
export function liveConfig(
  file: FileObject,
  change: (upstream: UpstreamConfig) => UpstreamConfig = (upstream) => upstream,
): GatewayConfig {
  logCount += 1;
  const config = configOf(
    JSON.stringify({
      listeners: [{ address: '127.0.0.1:0' }],
      routes: [{ name: 'main', upstream: 'main' }],
      accessLog: { path: join(folder, `log-${logCount}`) },
      ...file,
    }),
  );
  return { ...config, upstreams: config.upstreams.map(change) };
}

export interface LiveGateway {
  readonly gateway: Gateway;
  readonly address: string;
  readonly said: readonly string[];
  /** Resolves when a line for people matches, counted from the start. */
  heard(pattern: RegExp): Promise<void>;
}

/** The whole gateway with its background work, in this process. */
export async function startLive(
  t: TestContext,
  config: GatewayConfig,
  options: GatewayOptions = {},
): Promise<LiveGateway> {
  const signal = createSignal();
  const said: string[] = [];
  const gateway = createGateway(config, {
    ...options,
    diagnostics: (_level, text) => {
      said.push(text);
      signal.changed();
    },
  });
  await gateway.start();
  t.after(() => gateway.stop());
  return {
    gateway,
    address: gateway.addresses[0]!,
    said,
    heard: async (pattern) => {
      await signal.until(() => said.some((line) => pattern.test(line)), {
        what: String(pattern),
        describe: () => said.join('\n'),
      });
    },
  };
}
