import type { TestContext } from 'node:test';
import { PINGORA_PRESET } from '../../src/core/presets/pingora.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import { createProxy } from '../../src/proxy/proxy.ts';

export interface Lab {
  readonly port: number;
  readonly records: AccessRecord[];
  /** What hooks and lines said, in order. */
  readonly log: string[];
}

/** The proxy with the preset, whose hooks print what the lab's program prints. */
export async function startLab(t: TestContext, hooks: ProxyHooks<unknown>, maxRetries?: number): Promise<Lab> {
  const records: AccessRecord[] = [];
  const log: string[] = [];
  const { retry, budget } = PINGORA_PRESET;
  const printing: ProxyHooks<unknown> = {
    ...hooks,
    selectUpstream(exchange) {
      log.push(`selectUpstream #${exchange.attemptNumber + 1} ${exchange.request.method}`);
      return hooks.selectUpstream?.(exchange);
    },
    connected: (exchange, { reused }) => void log.push(`connected #${exchange.attemptNumber} reused=${reused}`),
    log: (_exchange, { attempts, status, error }) =>
      void log.push(`log attempts=${attempts.length} status=${status} error=${error}`),
  };
  const proxy = createProxy(printing, {
    budget,
    policy: maxRetries === undefined ? retry : { ...retry, maxRetries },
    onRecord: (record) => void records.push(record),
    diagnostics: (level, message) => void log.push(`${level} ${message}`),
  });
  const listener = await proxy.listen('127.0.0.1:0');
  t.after(() => proxy.close());
  return { port: listener.address.port, records, log };
}
