import type { GatewayConfig } from '../../config/gateway-config.ts';
import type { Upstream } from '../../engine/upstream.ts';
import type { GatewayReading } from '../../telemetry/live-reading.ts';
import type { ReplayMemory } from '../../transport/body/replay-memory.ts';
import { readUpstream } from './upstream-reading.ts';

/** The gateway as the admin interface sees it at one moment. */
export interface LiveGateway {
  readonly config: GatewayConfig;
  readonly phase: 'starting' | 'ready' | 'draining' | 'stopped';
  readonly inflightCount: number;
  /** Client connections. */
  readonly connectionCount: number;
  readonly refusedConnectionCounts: ReadonlyMap<string, number>;
  readonly replayMemory: ReplayMemory;
  /** Lines of the access log that are lost. */
  readonly lostLineCount: number;
  /** Spans that did not reach the collector. */
  readonly lostSpanCount: number;
  readonly upstreams: readonly Upstream[];
}

/** What the interface itself has counted. */
export type AdminCounts = Pick<GatewayReading, 'events' | 'reloads'>;

export function readGateway(live: LiveGateway, counts: AdminCounts, nowMs: number): GatewayReading {
  const { usedBytes, limitBytes } = live.replayMemory;
  return {
    ready: live.phase === 'ready',
    draining: live.phase === 'draining' || live.phase === 'stopped',
    inflightRequestCount: live.inflightCount,
    clientConnectionCount: live.connectionCount,
    refusedConnectionCounts: live.refusedConnectionCounts,
    replayMemory: { usedBytes, limitBytes },
    lostLogLineCount: live.lostLineCount,
    lostSpanCount: live.lostSpanCount,
    ...counts,
    routes: live.config.routes.map(({ name }) => name),
    upstreams: live.upstreams.map((upstream) => readUpstream(upstream, nowMs)),
  };
}
