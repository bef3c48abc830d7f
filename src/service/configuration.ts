import { readFileSync } from 'node:fs';
import { readEnvironment } from './environment.ts';
import type { ServiceOptions } from './settings.ts';

export type Configuration =
  | { readonly ok: true; readonly options: ServiceOptions }
  /** Each fault in one line: `mulligan.service.yaml:2:3 trust[0]: is not a peer (…)`. */
  | { readonly ok: false; readonly faults: readonly string[] };

const DEFAULT_FILE = 'mulligan.service.yaml';

/**
 * Reads `mulligan.service.yaml`, or the file that MULLIGAN_SERVICE_CONFIG names, and what the variables MULLIGAN_… say
 * beside it: they win. Finds every fault in one run; never throws.
 */
export async function readConfiguration(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Configuration> {
  // An empty one is how many a manifest says that it names none.
  const named = environment['MULLIGAN_SERVICE_CONFIG'] || undefined;
  const file = await readFile(named ?? DEFAULT_FILE, named !== undefined);
  const variables = readEnvironment(environment);
  const faults = [...file.faults, ...variables.faults];
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, options: { ...file.options, ...variables.options } };
}

interface Part {
  readonly options: ServiceOptions;
  readonly faults: readonly string[];
}

async function readFile(path: string, needed: boolean): Promise<Part> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (!needed && (error as NodeJS.ErrnoException).code === 'ENOENT') return { options: {}, faults: [] };
    const words = error instanceof Error ? error.message : String(error);
    return { options: {}, faults: [`${path}:1:1 cannot be read (${words})`] };
  }
  // Megabytes of heap that every collection of garbage in the application would walk over: only where there is a file.
  const { readServiceFile } = await import('./service-file.ts');
  return readServiceFile(text, path);
}
