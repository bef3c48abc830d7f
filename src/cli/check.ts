import { formatFault } from '../config/fault.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { readConfigFile } from '../gateway/config-file.ts';
import { exitCode } from './exit-code.ts';

/** Prints every fault of a file, or that there is none. @returns the exit code */
export function check(path: string, json: boolean): number {
  const result = readConfigFile(path);
  const faults = result.ok ? result.warnings : result.faults;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (json) print(JSON.stringify({ ok: result.ok, faults }));
  else {
    for (const fault of faults) print(formatFault(fault));
    if (result.ok) print(`${path}: fine: ${summary(result.config)}`);
  }
  return result.ok ? exitCode.fine : exitCode.usage;
}

/** `1 listener, 2 upstreams, 3 routes` */
export function summary({ listeners, upstreams, routes }: GatewayConfig): string {
  const count = (list: readonly unknown[], noun: string): string =>
    `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;
  return `${count(listeners, 'listener')}, ${count(upstreams, 'upstream')}, ${count(routes, 'route')}`;
}
