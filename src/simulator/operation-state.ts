import type { CallState } from './call-state.ts';
import type { Instance } from './instance.ts';
import { eitherOf } from './instance.ts';
import type { Measures } from './measures.ts';
import type { FaultEffect, TopologyOperation, TopologyService } from './topology.ts';

export interface ServiceState {
  readonly spec: TopologyService;
  readonly instances: readonly Instance[];
}

/** An operation while it is simulated. */
export class OperationState {
  readonly spec: TopologyOperation;
  readonly service: ServiceState;
  readonly index: number;
  readonly measures: Measures;
  steps: readonly (readonly CallState[])[] = [];
  errorRatio: number;
  errorStatus = 500;
  latencyFactor = 1;
  latencyLoadRatio = 0;
  latencyAddMs = 0;

  constructor(spec: TopologyOperation, service: ServiceState, index: number, measures: Measures) {
    this.spec = spec;
    this.service = service;
    this.index = index;
    this.measures = measures;
    this.errorRatio = spec.errorRatio;
  }

  recover(): void {
    this.errorRatio = this.spec.errorRatio;
    this.errorStatus = 500;
    this.latencyFactor = 1;
    this.latencyLoadRatio = 0;
    this.latencyAddMs = 0;
  }

  /** Only what can be wrong with one operation alone: the topology's checks let nothing else through. */
  suffer(effect: FaultEffect): void {
    if (effect.kind === 'errors') {
      this.errorRatio = eitherOf(this.errorRatio, effect.ratio);
      this.errorStatus = effect.status;
    } else if (effect.kind === 'latency') {
      this.latencyFactor *= effect.factor;
      this.latencyLoadRatio += effect.loadRatio;
      this.latencyAddMs += effect.addMs;
    }
  }
}
