import { formatFault, printable } from '../config/fault.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { formatCondition, isTrouble } from '../config/gateway-api/condition.ts';
import { hasTrouble } from '../config/gateway-api/gateway-api.ts';
import { readConfigFile } from '../gateway/config-file.ts';
import { readManifestFolder } from '../gateway/manifest-folder.ts';
import { exitCode } from './exit-code.ts';

/** Prints every fault of a file, or that there is none. @returns the exit code */
export function check(path: string, json: boolean): number {
  const result = readConfigFile(path);
  const faults = result.ok ? result.warnings : result.faults;
  if (json) print(JSON.stringify({ ok: result.ok, faults }));
  else {
    for (const fault of faults) print(formatFault(fault));
    if (result.ok) print(`${path}: fine: ${summary(result.config)}`);
  }
  return result.ok ? exitCode.fine : exitCode.usage;
}

/** The same for a folder of Gateway API resources: fine means that everything in it is in effect. @returns the exit code */
export function checkFolder(path: string, json: boolean): number {
  const reading = readManifestFolder(path);
  const { config, conditions, faults } = reading;
  const ok = !hasTrouble(reading);
  if (json) print(JSON.stringify({ ok, usable: config !== undefined, conditions, faults }));
  else {
    for (const fault of faults) print(formatFault(fault));
    for (const one of conditions.filter(isTrouble)) print(formatCondition(one));
    if (config === undefined) print(`${path}: no Gateway in it can be served`);
    else print(`${path}: ${ok ? 'fine' : 'not all of it is in effect'}: ${summary(config)}`);
  }
  return ok ? exitCode.fine : exitCode.usage;
}

/** A name in a file may hold escape sequences for the terminal that shows it, or line breaks that forge a line. */
function print(line: string): void {
  process.stdout.write(`${printable(line, Infinity)}\n`);
}

/** `1 listener, 2 upstreams, 3 routes` */
export function summary({ listeners, upstreams, routes }: GatewayConfig): string {
  const count = (list: readonly unknown[], noun: string): string =>
    `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;
  return `${count(listeners, 'listener')}, ${count(upstreams, 'upstream')}, ${count(routes, 'route')}`;
}
