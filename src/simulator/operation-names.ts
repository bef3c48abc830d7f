import type { DataFault, DataPath } from '../config/fault.ts';
import { printable } from '../config/fault.ts';
import { nearestName } from '../config/nearest-name.ts';
import type { Mapping } from '../config/plain-data.ts';
import { mapping } from '../config/plain-data.ts';

/** The operations of a topology by the names that a file may use. */
export class OperationNames {
  readonly #operations: readonly string[];
  readonly #byName = new Map<string, string>();
  readonly #services: Mapping;

  /** @param services the `services` of a file, checked or not */
  constructor(services: unknown) {
    this.#services = mapping(services);
    this.#operations = Object.entries(this.#services).flatMap(([service, value]) =>
      Object.keys(mapping(mapping(value)['operations'])).map((operation) => `${service}/${operation}`),
    );
    for (const operation of this.#operations) this.#byName.set(operation, operation);
    for (const service of Object.keys(this.#services)) {
      const [only, ...others] = this.#ofService(service);
      if (only !== undefined && others.length === 0) this.#byName.set(service, only);
    }
  }

  /** In full, in the order of the file. */
  get all(): readonly string[] {
    return this.#operations;
  }

  /** The full name, or `undefined` when there is no such operation. A service alone stands for its only operation. */
  resolve(name: string): string | undefined {
    return this.#byName.get(name);
  }

  /** Why a name cannot be resolved. */
  fault(path: DataPath, name: string): DataFault {
    const own = this.#ofService(name);
    if (own.length > 1)
      return {
        path,
        message: `"${printable(name)}" has ${own.length} operations`,
        hint: `name one of them: ${shortList(own)}`,
      };
    const siblings = this.#ofService(name.split('/')[0] ?? '');
    const isServiceKnown = siblings.length > 0;
    const known = isServiceKnown ? siblings : this.#operations;
    const near =
      nearestName(name, known) ?? (isServiceKnown ? undefined : nearestName(name, Object.keys(this.#services)));
    return {
      path,
      message: `"${printable(name)}" is not an operation of this file`,
      hint: near === undefined ? `known: ${shortList(known)}` : `did you mean \`${near}\`?`,
    };
  }

  #ofService(service: string): string[] {
    const operations = mapping(mapping(this.#services[service])['operations']);
    return Object.keys(operations).map((operation) => `${service}/${operation}`);
  }
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 8).map((name) => printable(name));
  return names.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}
