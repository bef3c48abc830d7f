import { checkSource, limitFaults } from '../config/checked-source.ts';
import { formatFault } from '../config/fault.ts';
import { serviceForm, type ServiceFile } from './service-schema.ts';
import type { ServiceOptions } from './settings.ts';

/** What the text of a service file says, and what is wrong with it, a line each. Never throws. */
export function readServiceFile(
  text: string,
  path: string,
): { readonly options: ServiceOptions; readonly faults: readonly string[] } {
  const { file, faults } = checkSource(text, path, serviceForm);
  if (file === undefined || faults.length > 0) {
    return { options: {}, faults: limitFaults(faults, path).map(formatFault) };
  }
  return { options: toOptions(file), faults: [] };
}

function toOptions({ memory, margin, ...same }: ServiceFile): ServiceOptions {
  const options: ServiceOptions = {
    ...same,
    marginMs: margin,
    memoryFile: memory?.file,
    saveEveryMs: memory?.saveEvery,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
