import type { FileCircuitBreaker, FileRetryBudget, FileRoute } from '../config/gateway-file.ts';
import type { Participation } from '../core/ownership/call-graph.ts';
import type { OwnershipMode } from '../core/retry-policy.ts';
import type { FileTimeouts } from './call-rules.ts';
import type { FileLayer } from './hidden-layer.ts';

/** A topology file that passed the schema: the file's own words, defaults filled in, durations in milliseconds. */
export interface TopologyFile {
  defaults: FileCallRules;
  ownership: { mode: OwnershipMode };
  retryOfRetry: boolean;
  deadlines: { propagate: boolean; margin: number; dropExpired: boolean };
  services: Record<string, FileService>;
  workload: { duration: number; seed: number; roots: FileRoot[] };
  faults: FileFault[];
}

/** How a call is made; what is left out comes from the calling service, then from `defaults`, then is the gateway's. */
export interface FileCallRules {
  timeouts?: FileTimeouts | undefined;
  retry?: FileRoute['retry'] | undefined;
  retryBudget?: FileRetryBudget | undefined;
  circuitBreaker?: FileCircuitBreaker | undefined;
}

export interface FileService extends FileCallRules {
  participation: Participation;
  instances: number;
  capacity?: FileCapacity | undefined;
  operations: Record<string, FileOperation>;
}

export interface FileCapacity {
  workers: number;
  queue: 'fifo' | 'lifo';
  queueLimit?: number | undefined;
  blocking: boolean;
}

export interface FileOperation {
  method: string;
  keyed: boolean;
  serviceTime: FileServiceTime;
  errorPercent: number;
  calls: FileStep[];
}

/** One of the three forms. */
export interface FileServiceTime {
  constant?: number | undefined;
  mean?: number | undefined;
  p50?: number | undefined;
  p99?: number | undefined;
}

export interface FileCall extends FileCallRules {
  to?: string | undefined;
  probability: number;
  count: number;
  failOpen: boolean;
  layers?: FileLayer[] | undefined;
}

/** A call, or several at the same time. */
export interface FileStep extends FileCall {
  parallel?: FileCall[] | undefined;
}

export interface FileRoot extends FileCallRules {
  operation: string;
  rate: number;
  arrivals: 'poisson' | 'constant';
  from: number;
  until?: number | undefined;
}

/** One place (`service` or `operation`) and one effect. */
export interface FileFault {
  at: number;
  for?: number | undefined;
  service?: string | undefined;
  operation?: string | undefined;
  instances?: number | undefined;
  errorPercent?: number | undefined;
  status: number;
  outage?: 'refused' | 'hangs' | undefined;
  capacityPercent?: number | undefined;
  latency?: { factor: number; loadPercent: number; add: number } | undefined;
}
