import type { FileRoute } from '../config/gateway-file.ts';
import { toRetry } from '../config/to-config.ts';
import { createRetryPolicy, type OwnershipMode, type RetryPolicy } from '../core/retry-policy.ts';
import type { ServiceTime } from './service-time.ts';
import type { FaultEffect, TopologyService } from './topology.ts';
import type { FileFault, FileService, FileServiceTime } from './topology-file.ts';

export function toService(name: string, { participation, instances, capacity }: FileService): TopologyService {
  return {
    name,
    participation,
    instanceCount: instances,
    capacity: {
      workerCount: capacity?.workers ?? Infinity,
      queue: capacity?.queue ?? 'fifo',
      queueLimit: capacity?.queueLimit ?? Infinity,
      blocking: capacity?.blocking ?? false,
    },
  };
}

export function toServiceTime({ constant, mean, p50, p99 }: FileServiceTime): ServiceTime {
  if (constant !== undefined) return { kind: 'constant', ms: constant };
  if (mean !== undefined) return { kind: 'exponential', meanMs: mean };
  return { kind: 'lognormal', p50Ms: p50 ?? 1, p99Ms: p99 ?? 1 };
}

export function toPolicy(
  retry: FileRoute['retry'] | undefined,
  ownership: OwnershipMode,
  retryOfRetry: boolean,
): RetryPolicy {
  if (retry === undefined) return createRetryPolicy({ ownership, retryOfRetry });
  const { maxRetries, codes, on, backoff, retryAfterMaxMs } = toRetry(retry);
  return createRetryPolicy({
    maxRetries,
    codes,
    on,
    curve: backoff.curve,
    jitter: backoff.jitter,
    backoffMs: backoff.baseMs,
    maxBackoffMs: backoff.maxMs,
    retryAfterMaxMs,
    ownership,
    retryOfRetry,
  });
}

export function toEffect({ errorPercent, status, outage, capacityPercent, latency }: FileFault): FaultEffect {
  if (outage !== undefined) return { kind: 'outage', how: outage };
  if (capacityPercent !== undefined) return { kind: 'capacity', ratio: capacityPercent / 100 };
  if (latency !== undefined) {
    const { factor, loadPercent, add } = latency;
    return { kind: 'latency', factor, loadRatio: loadPercent / 100, addMs: add };
  }
  return { kind: 'errors', ratio: (errorPercent ?? 0) / 100, status };
}
