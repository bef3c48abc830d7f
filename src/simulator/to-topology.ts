import type { DataPath } from '../config/fault.ts';
import { toBudget, toCircuitBreaker } from '../config/to-upstream.ts';
import { DEFAULT_RETRY_BUDGET } from '../core/presets/default.ts';
import { createRetryPolicy, type OwnershipMode } from '../core/retry-policy.ts';
import { DEFAULT_TIMEOUTS } from './call-rules.ts';
import type { FileLayer } from './hidden-layer.ts';
import { type Layer, LayerHops, NO_RETRIES } from './layer-hops.ts';
import { OperationNames } from './operation-names.ts';
import type { Topology, TopologyCall, TopologyFault, TopologyOperation, TopologyRoot } from './topology.ts';
import type { FileCall, FileCallRules, FileFault, FileService, FileStep, TopologyFile } from './topology-file.ts';
import { toEffect, toPolicy, toService, toServiceTime } from './topology-values.ts';

export interface PlacedTopology {
  readonly topology: Topology;
  /** Where each call stands in the file. */
  readonly callPaths: readonly DataPath[];
}

/** A checked file in the words of the code. */
export function toTopology(file: TopologyFile): PlacedTopology {
  const translation = new Translation(file);
  return { topology: translation.topology(), callPaths: translation.callPaths };
}

class Translation {
  readonly callPaths: DataPath[] = [];
  readonly #file: TopologyFile;
  readonly #names: OperationNames;
  readonly #serviceNames: readonly string[];
  readonly #calls: TopologyCall[] = [];
  readonly #hops: LayerHops;

  constructor(file: TopologyFile) {
    this.#file = file;
    this.#names = new OperationNames(file.services);
    this.#serviceNames = Object.keys(file.services);
    this.#hops = new LayerHops({ services: this.#serviceNames.length, operations: this.#names.all.length });
  }

  topology(): Topology {
    const { workload, faults, deadlines, ownership, retryOfRetry, services } = this.#file;
    const operations = this.#operations();
    return {
      operations: [...operations, ...this.#hops.operations],
      roots: this.#roots(),
      calls: this.#calls,
      services: [
        ...Object.entries(services).map(([name, service]) => toService(name, service)),
        ...this.#hops.services,
      ],
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

  /** Their calls come last: a layer takes its method from the operation that it leads to. */
  #operations(): TopologyOperation[] {
    const bare = this.#bareOperations();
    return Object.entries(this.#file.services)
      .flatMap(([serviceName, service]) =>
        Object.entries(service.operations).map(([name, { calls }]): number[][] => {
          const path = ['services', serviceName, 'operations', name, 'calls'];
          return calls.flatMap((step, index) =>
            this.#steps(step, [...path, index], {
              name: serviceName,
              service,
              bare,
              from: this.#indexOf(`${serviceName}/${name}`),
            }),
          );
        }),
      )
      .map((steps, index): TopologyOperation => Object.assign(bare[index]!, { steps }));
  }

  /** Without their calls. */
  #bareOperations(): TopologyOperation[] {
    return Object.entries(this.#file.services).flatMap(([serviceName, service], index) =>
      Object.entries(service.operations).map(([name, operation]): TopologyOperation => ({
        name: `${serviceName}/${name}`,
        service: index,
        method: operation.method,
        keyed: operation.keyed,
        serviceTime: toServiceTime(operation.serviceTime),
        errorRatio: operation.errorPercent / 100,
        steps: [],
      })),
    );
  }

  /** A call that is made several times is that many steps, or that many calls of one step; always the same call. */
  #steps(step: FileStep, path: DataPath, caller: CallingOperation): number[][] {
    if (step.parallel === undefined) {
      const index = this.#call(step, path, caller);
      return Array.from({ length: step.count }, () => [index]);
    }
    return [
      step.parallel.flatMap((call, index) => {
        const made = this.#call(call, [...path, 'parallel', index], caller);
        return Array.from({ length: call.count }, () => made);
      }),
    ];
  }

  #call(call: FileCall, path: DataPath, { name, service, bare, from }: CallingOperation): number {
    const isLegacy = service.participation === 'legacy';
    const to = this.#indexOf(call.to ?? '');
    const made: TopologyCall = {
      from,
      to,
      probability: call.probability,
      edge: call.failOpen ? 'fail-open' : 'fail-closed',
      ...this.#rules([call, service, this.#file.defaults], isLegacy ? 'off' : this.#file.ownership.mode, isLegacy),
    };
    const layers = (call.layers ?? []).map((layer) => this.#layer(layer));
    return this.#hops.callThrough(made, { caller: name, target: bare[to]!, layers }, (one, layer) =>
      this.#add(one, layer === undefined ? path : [...path, 'layers', layer]),
    );
  }

  #layer({ name, participation, retry, timeouts, retryBudget }: FileLayer): Layer {
    const isLegacy = participation === 'legacy';
    const ownership = isLegacy ? 'off' : this.#file.ownership.mode;
    return {
      name,
      participation,
      timeouts: { requestMs: timeouts?.request ?? 0, attemptMs: timeouts?.backendRequest ?? 0 },
      policy: retry === undefined ? NO_RETRIES : toPolicy(retry, ownership, isLegacy || this.#file.retryOfRetry),
      budget: retryBudget === undefined ? { kind: 'none' } : toBudget(retryBudget),
    };
  }

  #roots(): TopologyRoot[] {
    const { roots } = this.#file.workload;
    const { timeouts } = this.#file.defaults;
    return roots.map((root, index): TopologyRoot => {
      const operation = this.#indexOf(root.operation);
      const rules = this.#rules([root, { timeouts }], this.#file.ownership.mode, false);
      const policy = root.retry === undefined ? createRetryPolicy({ maxRetries: 0 }) : rules.policy;
      return {
        operation,
        call: this.#add({ from: undefined, to: operation, probability: 1, edge: 'fail-closed', ...rules, policy }, [
          'workload',
          'roots',
          index,
        ]),
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

  #add(call: TopologyCall, path: DataPath): number {
    this.callPaths.push(path);
    return this.#calls.push(call) - 1;
  }

  /** The checks have made sure that there is one. */
  #indexOf(name: string): number {
    return this.#names.all.indexOf(this.#names.resolve(name) ?? name);
  }
}

/** The operation whose calls are read. */
interface CallingOperation {
  readonly name: string;
  readonly service: FileService;
  readonly bare: readonly TopologyOperation[];
  readonly from: number;
}
