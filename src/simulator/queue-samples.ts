import type { ServiceState } from './operation-state.ts';

/** How many wait at each service, looked at when an interval ends. */
export class QueueSamples {
  readonly #lengths: readonly number[][];
  readonly #services: readonly ServiceState[];

  constructor(services: readonly ServiceState[]) {
    this.#services = services;
    this.#lengths = services.map(() => []);
  }

  take(): void {
    for (const [index, service] of this.#services.entries()) this.#lengths[index]!.push(lengthAt(service));
  }

  /** Of one service, for so many intervals; one that has not ended has what is true now. */
  read(index: number, intervalCount: number): number[] {
    const lengths = this.#lengths[index]!;
    const now = lengthAt(this.#services[index]!);
    return Array.from({ length: intervalCount }, (_, interval) => lengths[interval] ?? now);
  }
}

function lengthAt({ instances }: ServiceState): number {
  let length = 0;
  for (const { waiting } of instances) length += waiting.length;
  return length;
}
