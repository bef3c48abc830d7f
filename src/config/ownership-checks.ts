import { defaults } from './defaults.ts';
import type { DataFault, DataPath } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import { isMapping, list, mapping, repeats } from './plain-data.ts';

/** Networks that everybody is in. */
const EVERYBODY: ReadonlySet<unknown> = new Set(['0.0.0.0/0', '::/0']);

/** What the schema cannot say of `ownership`: of the file, of its upstreams and of its routes. */
export function ownershipFaults(file: Mapping): DataFault[] {
  const upstreams = Object.entries(mapping(file['upstreams']));
  const own = mapping(file['ownership']);
  const trust = list(own['trust']);
  const faults: DataFault[] = repeats(['ownership', 'trust'], trust, (value) => String(value).toLowerCase());
  trust.forEach((peer, index) => {
    if (EVERYBODY.has(peer))
      faults.push({
        severity: 'warning',
        path: ['ownership', 'trust', index],
        message: 'believes everybody',
        hint: 'name the networks of your own services: whoever is believed can take retries away, and is told of the inside',
      });
  });
  for (const [name, upstream] of upstreams)
    faults.push(...upstreamFaults(['upstreams', name], mapping(upstream), own, trust.length > 0));
  const trusted = upstreams.some(([, upstream]) => isTrusted(mapping(upstream)['ownership']));
  if (isMapping(file['ownership']) && own['mode'] !== 'off' && trust.length === 0 && !trusted)
    faults.push({
      severity: 'warning',
      path: ['ownership'],
      atKey: true,
      message: 'trusts nobody: no claim is read, and none is told',
      hint: 'name your services: trust: [10.0.0.0/8], or upstreams.NAME.ownership: trusted',
    });
  return faults;
}

function isTrusted(ownership: unknown): boolean {
  return ownership === 'trusted' || mapping(ownership)['trusted'] === true;
}

/** A budget for a whole path needs a path whose services say that they leave the retry to this gateway. */
function upstreamFaults(path: DataPath, upstream: Mapping, own: Mapping, isAnybodyTrusted: boolean): DataFault[] {
  const { hops, mode } = mapping(upstream['ownership']);
  if (hops === undefined) return [];
  const at = { path: [...path, 'ownership', 'hops'], atKey: true } as const;
  const effective = mode ?? own['mode'] ?? defaults.ownership.mode;
  if (effective !== 'enforce')
    return [{ ...at, message: 'has no effect while claims are not obeyed', hint: 'set mode: enforce, or remove it' }];
  if (!isTrusted(upstream['ownership']) && !isAnybodyTrusted)
    return [
      {
        ...at,
        message: 'has no effect while the upstream is not believed',
        hint: 'set trusted: true, or name its addresses in ownership.trust',
      },
    ];
  const kind = mapping(upstream['retryBudget'])['kind'] ?? defaults.retryBudget.kind;
  // Of a kind that there is not, the schema tells.
  return kind !== 'throttle' && kind !== 'none'
    ? []
    : [
        {
          ...at,
          message: `has no effect on a budget of kind ${kind}`,
          hint: 'use a budget of kind ratio or token-bucket, or remove it',
        },
      ];
}
