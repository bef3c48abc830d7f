import type { FileRoute } from '../config/gateway-file.ts';
import { toBudget, toCircuitBreaker, toRetry } from '../config/to-config.ts';
import { DEFAULT_RETRY_BUDGET } from '../core/presets/default.ts';
import { createRetryPolicy, type OwnershipMode, type RetryPolicy } from '../core/retry-policy.ts';
import { DEFAULT_TIMEOUTS } from './call-rules.ts';
import { OperationNames } from './operation-names.ts';
import type { ServiceTime } from './service-time.ts';
import type {
  FaultEffect,
  Topology,
  TopologyCall,
  TopologyFault,
  TopologyOperation,
  TopologyRoot,
  TopologyService,
} from './topology.ts';
import type {
  FileCall,
  FileCallRules,
  FileFault,
  FileService,
  FileServiceTime,
  FileStep,
  TopologyFile,
} from './topology-file.ts';

/** A checked file in the words of the code. */
export function toTopology(file: TopologyFile): Topology {
  return new Translation(file).topology();
}

class Translation {
  readonly #file: TopologyFile;
  readonly #names: OperationNames;
  readonly #serviceNames: readonly string[];
  readonly #calls: TopologyCall[] = [];

  constructor(file: TopologyFile) {
    this.#file = file;
    this.#names = new OperationNames(file.services);
    this.#serviceNames = Object.keys(file.services);
  }

  topology(): Topology {
    const { workload, faults, deadlines, ownership, retryOfRetry, services } = this.#file;
    return {
      operations: this.#operations(),
      roots: this.#roots(),
      calls: this.#calls,
      services: Object.entries(services).map(([name, service]) => toService(name, service)),
      faults: faults.map((fault) => this.#fault(fault)),
      durationMs: workload.duration,
      seed: workload.seed,
      deadlines: {
        propagate: deadlines.propagate,
        marginMs: deadlines.margin,
        dropExpired: deadlines.dropExpired,
      },
      ownership: ownership.mode,
      tellsLineage: !retryOfRetry,
    };
  }

  #operations(): TopologyOperation[] {
    return Object.entries(this.#file.services).flatMap(([serviceName, service]) =>
      Object.entries(service.operations).map(([name, operation]): TopologyOperation => {
        const fullName = `${serviceName}/${name}`;
        const from = this.#indexOf(fullName);
        return {
          name: fullName,
          service: this.#serviceNames.indexOf(serviceName),
          method: operation.method,
          keyed: operation.keyed,
          serviceTime: toServiceTime(operation.serviceTime),
          errorRatio: operation.errorPercent / 100,
          steps: operation.calls.flatMap((step) => this.#steps(step, from, service)),
        };
      }),
    );
  }

  /** A call that is made several times is that many steps, or that many calls of one step; always the same call. */
  #steps(step: FileStep, from: number, service: FileService): number[][] {
    if (step.parallel === undefined) {
      const index = this.#call(step, from, service);
      return Array.from({ length: step.count }, () => [index]);
    }
    return [
      step.parallel.flatMap((call) => {
        const index = this.#call(call, from, service);
        return Array.from({ length: call.count }, () => index);
      }),
    ];
  }

  #call(call: FileCall, from: number, service: FileService): number {
    const ownership = service.participation === 'legacy' ? 'off' : this.#file.ownership.mode;
    return this.#add({
      from,
      to: this.#indexOf(call.to ?? ''),
      probability: call.probability,
      edge: call.failOpen ? 'fail-open' : 'fail-closed',
      ...this.#rules([call, service, this.#file.defaults], ownership, service.participation === 'legacy'),
    });
  }

  #roots(): TopologyRoot[] {
    const { roots } = this.#file.workload;
    const { timeouts } = this.#file.defaults;
    return roots.map((root): TopologyRoot => {
      const operation = this.#indexOf(root.operation);
      const rules = this.#rules([root, { timeouts }], this.#file.ownership.mode, false);
      const policy = root.retry === undefined ? createRetryPolicy({ maxRetries: 0 }) : rules.policy;
      return {
        operation,
        call: this.#add({ from: undefined, to: operation, probability: 1, edge: 'fail-closed', ...rules, policy }),
        ratePerSecond: root.rate,
        arrivals: root.arrivals,
        fromMs: root.from,
        untilMs: root.until ?? Infinity,
      };
    });
  }

  /** The nearest block counts, as a whole. */
  #rules(
    nearestFirst: readonly FileCallRules[],
    ownership: OwnershipMode,
    isLegacy: boolean,
  ): Pick<TopologyCall, 'timeouts' | 'policy' | 'budget' | 'maxInflightRequests' | 'breaker'> {
    const nearest = <Key extends keyof FileCallRules>(key: Key): FileCallRules[Key] =>
      nearestFirst.find((rules) => rules[key] !== undefined)?.[key];
    const { request, backendRequest } = nearest('timeouts') ?? DEFAULT_TIMEOUTS;
    const budget = nearest('retryBudget');
    const breaker = nearest('circuitBreaker');
    return {
      timeouts: { requestMs: request, attemptMs: backendRequest },
      policy: toPolicy(nearest('retry'), ownership, isLegacy || this.#file.retryOfRetry),
      budget: budget === undefined ? DEFAULT_RETRY_BUDGET : toBudget(budget),
      maxInflightRequests: breaker?.maxInflightRequests ?? Infinity,
      breaker: breaker === undefined ? undefined : toCircuitBreaker(breaker),
    };
  }

  #fault(fault: FileFault): TopologyFault {
    const operation = fault.operation === undefined ? undefined : this.#indexOf(fault.operation);
    const service = fault.service ?? this.#names.all[operation ?? 0]!.split('/')[0]!;
    return {
      fromMs: fault.at,
      untilMs: fault.for === undefined ? Infinity : fault.at + fault.for,
      service: this.#serviceNames.indexOf(service),
      operation,
      instanceCount: fault.instances ?? Infinity,
      effect: toEffect(fault),
    };
  }

  #add(call: TopologyCall): number {
    return this.#calls.push(call) - 1;
  }

  /** The checks have made sure that there is one. */
  #indexOf(name: string): number {
    return this.#names.all.indexOf(this.#names.resolve(name) ?? name);
  }
}

function toService(name: string, { participation, instances, capacity }: FileService): TopologyService {
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

function toServiceTime({ constant, mean, p50, p99 }: FileServiceTime): ServiceTime {
  if (constant !== undefined) return { kind: 'constant', ms: constant };
  if (mean !== undefined) return { kind: 'exponential', meanMs: mean };
  return { kind: 'lognormal', p50Ms: p50 ?? 1, p99Ms: p99 ?? 1 };
}

function toPolicy(retry: FileRoute['retry'] | undefined, ownership: OwnershipMode, retryOfRetry: boolean): RetryPolicy {
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

function toEffect({ errorPercent, status, outage, capacityPercent, latency }: FileFault): FaultEffect {
  if (outage !== undefined) return { kind: 'outage', how: outage };
  if (capacityPercent !== undefined) return { kind: 'capacity', ratio: capacityPercent / 100 };
  if (latency !== undefined) {
    const { factor, loadPercent, add } = latency;
    return { kind: 'latency', factor, loadRatio: loadPercent / 100, addMs: add };
  }
  return { kind: 'errors', ratio: (errorPercent ?? 0) / 100, status };
}
