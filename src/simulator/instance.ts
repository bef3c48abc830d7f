import { hashText } from '../core/hash.ts';
import type { EndpointView } from '../core/load-balancing.ts';
import type { ServedRequest } from './served-request.ts';
import type { Capacity, FaultEffect } from './topology.ts';
import { WaitingLine } from './waiting-line.ts';

/** One of the servers of a service: its workers, who waits for them, and what is wrong with it now. */
export class Instance implements EndpointView {
  readonly weight = 1;
  readonly priority = 0;
  readonly hash: number;
  readonly available = true;
  readonly excluded = false;
  inflight = 0;

  readonly capacity: Capacity;
  readonly waiting: WaitingLine<ServedRequest> = new WaitingLine();
  busyCount = 0;
  workerCount: number;
  errorRatio = 0;
  errorStatus = 500;
  refuses = false;
  hangs = false;
  latencyFactor = 1;
  latencyLoadRatio = 0;
  latencyAddMs = 0;

  constructor(name: string, capacity: Capacity) {
    this.hash = hashText(name);
    this.capacity = capacity;
    this.workerCount = capacity.workerCount;
  }

  recover(): void {
    this.workerCount = this.capacity.workerCount;
    this.errorRatio = 0;
    this.refuses = false;
    this.hangs = false;
    this.latencyFactor = 1;
    this.latencyLoadRatio = 0;
    this.latencyAddMs = 0;
  }

  suffer(effect: FaultEffect): void {
    switch (effect.kind) {
      case 'errors':
        this.errorRatio = eitherOf(this.errorRatio, effect.ratio);
        this.errorStatus = effect.status;
        return;
      case 'outage':
        if (effect.how === 'refused') this.refuses = true;
        else this.hangs = true;
        return;
      case 'capacity':
        if (this.workerCount !== Infinity) this.workerCount = Math.round(this.workerCount * effect.ratio);
        return;
      case 'latency':
        this.latencyFactor *= effect.factor;
        this.latencyLoadRatio += effect.loadRatio;
        this.latencyAddMs += effect.addMs;
    }
  }
}

/** Of two independent errors, at least one. */
export function eitherOf(oneRatio: number, otherRatio: number): number {
  return 1 - (1 - oneRatio) * (1 - otherRatio);
}
