import type { DataFault, DataPath } from './fault.ts';
import { printable } from './fault.ts';
import { nearestName } from './nearest-name.ts';
import type { Mapping } from './plain-data.ts';
import { isMapping, list, mapping } from './plain-data.ts';

/** The upstreams that a route names, in either form. */
export function upstreamNames(upstream: unknown): readonly unknown[] {
  return typeof upstream === 'string' ? [upstream] : list(upstream).map((target) => mapping(target)['upstream']);
}

export function unknownUpstream(path: DataPath, name: string, upstreams: Mapping): DataFault[] {
  if (name === '' || Object.hasOwn(upstreams, name)) return [];
  const known = Object.keys(upstreams);
  const near = nearestName(name, known);
  const hint =
    near !== undefined
      ? `did you mean \`${near}\`?`
      : known.length === 0
        ? 'define it under `upstreams`'
        : `defined: ${known
            .slice(0, 10)
            .map((one) => printable(one))
            .join(', ')}`;
  return [{ path, message: `no upstream is named "${printable(name)}"`, hint }];
}

/** Names that lead nowhere or stand there twice, and weights that leave a request nowhere to go. */
export function targetFaults(path: DataPath, targets: readonly unknown[], upstreams: Mapping | undefined): DataFault[] {
  const faults: DataFault[] = [];
  const seen = new Map<string, number>();
  targets.forEach((value, index) => {
    const name = mapping(value)['upstream'];
    if (typeof name !== 'string') return;
    if (upstreams !== undefined) faults.push(...unknownUpstream([...path, index, 'upstream'], name, upstreams));
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    else
      faults.push({
        path: [...path, index, 'upstream'],
        message: `"${printable(name)}" is target ${first} too`,
        hint: 'add the weights of the two together',
      });
  });
  if (targets.length > 0 && targets.every((value) => mapping(value)['weight'] === 0))
    faults.push({
      path,
      message: 'every weight is 0: no request has anywhere to go',
      hint: 'give one target at least weight 1',
    });
  return faults;
}

export function fieldNameFaults(path: DataPath, headers: Mapping): DataFault[] {
  const faults: DataFault[] = [];
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    const at = { path: [...path, name], atKey: true };
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/.test(lower))
      faults.push({ ...at, message: 'is not a field name', hint: 'for example x-tier' });
    else if (lower === 'host') faults.push({ ...at, message: 'is not matched here', hint: 'use `hosts`' });
    else if (seen.has(lower))
      faults.push({ ...at, message: 'is there twice: names have no case', hint: 'remove one of the two' });
    seen.add(lower);
  }
  return faults;
}

export function rewriteFaults(path: DataPath, rewrite: unknown, matchPath: Mapping): DataFault[] {
  if (!isMapping(rewrite)) return [];
  if (Object.keys(rewrite).length === 0)
    return [{ path, message: 'is empty', hint: 'for example { host: upstream, prefix: / }' }];
  if (rewrite['prefix'] === undefined || typeof matchPath['prefix'] === 'string') return [];
  return [
    {
      path: [...path, 'prefix'],
      message: 'has no prefix to take the place of',
      hint: 'give the route match: { path: { prefix: /… } }; / matches every path',
    },
  ];
}
