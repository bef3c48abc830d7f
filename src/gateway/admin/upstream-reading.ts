import type { Endpoint } from '../../engine/endpoint.ts';
import type { Upstream } from '../../engine/upstream.ts';
import type { EndpointReading, EndpointState, UpstreamReading } from '../../telemetry/live-reading.ts';

/** The live state of an upstream as data, at the monotonic instant `nowMs`. */
export function readUpstream(upstream: Upstream, nowMs: number): UpstreamReading {
  const { name, permits, budget } = upstream;
  return {
    name,
    permits: { inflight: permits.inflight, limit: permits.limit },
    retryBudget: { kind: budget.kind, balance: budget.balance(nowMs) },
    panicking: upstream.panicking,
    breakers: upstream.circuits?.states(nowMs) ?? [],
    endpoints: upstream.endpoints.map((endpoint) => readEndpoint(upstream, endpoint, nowMs)),
  };
}

function readEndpoint({ transport }: Upstream, endpoint: Endpoint, nowMs: number): EndpointReading {
  return {
    address: endpoint.address.key,
    ...verdictOn(endpoint, nowMs),
    weight: endpoint.weight,
    priority: endpoint.priority,
    inflight: endpoint.inflight,
    connections: transport.stats?.(endpoint.address) ?? { open: 0, idle: 0, waiting: 0 },
  };
}

/** The strongest reason comes first: an operator's word, then health checks, then what attempts said. */
function verdictOn(
  endpoint: Endpoint,
  nowMs: number,
): { readonly state: EndpointState; readonly why: string | undefined; readonly forMs: number | undefined } {
  if (endpoint.drained) return { state: 'draining', why: 'an operator took it out', forMs: undefined };
  if (!endpoint.healthy) return { state: 'unhealthy', why: 'its health checks fail', forMs: undefined };
  if (endpoint.ejected) {
    const forMs = Math.max(0, Math.ceil((endpoint.outlier?.ejectedUntilMs ?? nowMs) - nowMs));
    return { state: 'ejected', why: 'too many of its attempts failed', forMs };
  }
  const pauseMs = endpoint.cooldown.pausedForMs(nowMs);
  if (pauseMs > 0) return { state: 'paused', why: 'it could not be connected to', forMs: Math.ceil(pauseMs) };
  return { state: 'available', why: undefined, forMs: undefined };
}
