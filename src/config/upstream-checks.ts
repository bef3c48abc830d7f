import { readAddress } from './address.ts';
import { defaults } from './defaults.ts';
import type { DataFault, DataPath } from './fault.ts';
import type { Mapping } from './plain-data.ts';
import { list, mapping } from './plain-data.ts';
import { namePattern } from './schema-parts.ts';

/** Names, endpoints that are there twice, and settings of another kind of budget. */
export function upstreamFaults(name: string, upstream: Mapping): DataFault[] {
  const path: DataPath = ['upstreams', name];
  const faults: DataFault[] = [];
  if (!namePattern.test(name))
    faults.push({
      path,
      atKey: true,
      message: 'is not a name',
      hint: 'letters, digits, `.`, `_` and `-`, at most 63, beginning with a letter or digit',
    });
  const seen = new Map<string, number>();
  list(upstream['endpoints']).forEach((value, index) => {
    const reading = readAddress(typeof value === 'string' ? value : mapping(value)['address'], 'endpoint');
    if (!reading.ok) return;
    const first = seen.get(reading.value.key);
    if (first === undefined) seen.set(reading.value.key, index);
    else
      faults.push({
        path: [...path, 'endpoints', index],
        message: `${reading.value.key} is endpoints[${first}] too`,
        hint: 'for a larger share write { address, weight }',
      });
  });
  return [...faults, ...budgetFaults([...path, 'retryBudget'], mapping(upstream['retryBudget']))];
}

const budgetFields: Readonly<Record<string, readonly string[]>> = {
  ratio: ['percent', 'interval', 'minRetryRate'],
  'token-bucket': ['percent', 'interval', 'minRetryRate'],
  throttle: ['maxTokens', 'tokenRatio'],
  none: [],
};

function budgetFaults(path: DataPath, budget: Mapping): DataFault[] {
  const kind =
    typeof budget['kind'] === 'string' ? budget['kind'] : budget['kind'] === undefined ? defaults.retryBudget.kind : '';
  const own = Object.hasOwn(budgetFields, kind) ? budgetFields[kind] : undefined;
  if (own === undefined) return [];
  const others = new Set(
    Object.values(budgetFields)
      .flat()
      .filter((field) => !own.includes(field)),
  );
  return Object.keys(budget)
    .filter((field) => others.has(field))
    .map((field) => ({
      path: [...path, field],
      atKey: true,
      message: `does not belong to a budget of kind ${kind}`,
      hint: own.length === 0 ? 'remove it, or choose another kind' : `its settings: ${own.join(', ')}`,
    }));
}
