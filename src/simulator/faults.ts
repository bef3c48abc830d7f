import type { OperationState, ServiceState } from './operation-state.ts';
import type { Instance } from './instance.ts';
import type { Topology, TopologyFault } from './topology.ts';

/** What is wrong at each time, put upon those who suffer it. */
export class Faults {
  /** When something begins or ends, in order, each instant once. */
  readonly changesAtMs: readonly number[];
  readonly #faults: readonly TopologyFault[];
  readonly #services: readonly ServiceState[];
  readonly #operations: readonly OperationState[];

  constructor(topology: Topology, services: readonly ServiceState[], operations: readonly OperationState[]) {
    this.#faults = topology.faults;
    this.#services = services;
    this.#operations = operations;
    const instants = topology.faults.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]);
    this.changesAtMs = [...new Set(instants)].filter((atMs) => atMs < topology.durationMs).toSorted((a, b) => a - b);
  }

  /** @returns the instances that changed */
  apply(nowMs: number): readonly Instance[] {
    const instances = this.#services.flatMap((service) => service.instances);
    for (const instance of instances) instance.recover();
    for (const operation of this.#operations) operation.recover();
    for (const fault of this.#faults) {
      if (nowMs < fault.fromMs || nowMs >= fault.untilMs) continue;
      if (fault.operation !== undefined) this.#operations[fault.operation]!.suffer(fault.effect);
      else {
        const sick = this.#services[fault.service]!.instances.slice(0, fault.instanceCount);
        for (const instance of sick) instance.suffer(fault.effect);
      }
    }
    return instances;
  }
}
