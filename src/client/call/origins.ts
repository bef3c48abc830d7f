import type { CircuitBreakerOptions } from '../../core/circuit-breaker.ts';
import type { RetryBudget } from '../../core/retry-budget.ts';
import type { Upstream } from '../../engine/upstream.ts';
import { createUpstream } from '../../engine/upstream.ts';
import type { EndpointAddress, Transport } from '../../transport/transport.ts';

/** More origins than a program talks to; one that visits the whole web must not keep all of them. */
const MAX_ORIGINS = 1024;

/** The live state of each origin: budget and circuits. */
export interface Origins {
  of(origin: string): Upstream;
}

export interface OriginsOptions {
  readonly transport: Transport;
  readonly budgetOf: () => RetryBudget;
  readonly circuitBreaker: CircuitBreakerOptions | undefined;
}

export function createOrigins({ transport, budgetOf, circuitBreaker }: OriginsOptions): Origins {
  const known = new Map<string, Upstream>();
  const make = (origin: string): Upstream =>
    createUpstream({
      name: origin,
      endpoints: [{ address: addressOf(origin) }],
      transport,
      budget: budgetOf(),
      circuitBreaker,
      // How many requests are under way is for the client below to bound; a refused retry never changes the answer.
      maxInflightRequests: Number.MAX_SAFE_INTEGER,
      onOverflow: 'original',
    });
  return {
    of(origin) {
      let upstream = known.get(origin);
      if (upstream === undefined) {
        upstream = make(origin);
        if (known.size >= MAX_ORIGINS) forgetIdle(known);
        known.set(origin, upstream);
      }
      return upstream;
    },
  };
}

/** The oldest that nothing is under way to; when all are busy the list grows by one. */
function forgetIdle(known: Map<string, Upstream>): void {
  for (const [origin, upstream] of known) {
    if (upstream.permits.inflight > 0) continue;
    known.delete(origin);
    return;
  }
}

/** For records only: the client below connects. */
function addressOf(origin: string): EndpointAddress {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.hostname === '') return { host: origin, port: 0, key: origin };
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  return { host: url.hostname, port, key: `${url.hostname}:${port}` };
}
