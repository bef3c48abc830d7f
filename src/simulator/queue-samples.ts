import type { ServiceState } from './operation-state.ts';

/** How many wait at each service, looked at when an interval ends. */
export class QueueSamples {
  /** By service. */
  readonly lengths: readonly number[][];
  readonly #services: readonly ServiceState[];

  constructor(services: readonly ServiceState[]) {
    this.#services = services;
    this.lengths = services.map(() => []);
  }

  take(): void {
    for (const [index, { instances }] of this.#services.entries()) {
      let length = 0;
      for (const { waiting } of instances) length += waiting.length;
      this.lengths[index]!.push(length);
    }
  }
}
