import { createRetryPolicy, type RetryPolicy } from '../core/retry-policy.ts';
import type { Topology, TopologyCall } from './topology.ts';

/** Which of the protections of a topology take part: the same services and arrivals under several rules. */
export type SimulationMode = 'file' | 'none' | 'retries' | 'lineage' | 'budget' | 'ownership';

/** What each mode means, for people. */
export const SIMULATION_MODES: Readonly<Record<SimulationMode, string>> = {
  file: 'everything as the file says',
  none: 'no retries at all',
  retries: 'the retries of the file, without budgets, ownership and lineage',
  lineage: 'the retries of the file, but a request that is itself a retry is not retried; no budgets, no ownership',
  budget: 'the retries of the file within its budgets, without ownership and lineage',
  ownership: 'the retries of the file within its budgets, and only next to the failure: claims are written and obeyed',
};

export function isSimulationMode(word: string): word is SimulationMode {
  return Object.hasOwn(SIMULATION_MODES, word);
}

/** The topology as the mode has it. */
export function inMode(topology: Topology, mode: SimulationMode): Topology {
  if (mode === 'file') return topology;
  const ownership = mode === 'ownership' ? 'enforce' : 'off';
  const hasBudget = mode === 'budget' || mode === 'ownership';
  const hasLineage = mode === 'lineage' || (mode === 'ownership' && topology.tellsLineage);
  return {
    ...topology,
    ownership,
    tellsLineage: hasLineage,
    calls: topology.calls.map((call): TopologyCall => {
      const { participation } = callerOf(topology, call);
      const policy: RetryPolicy = {
        ...call.policy,
        ownership: participation === 'legacy' ? 'off' : ownership,
        retryOfRetry: mode === 'lineage' ? participation === 'legacy' : call.policy.retryOfRetry,
      };
      return {
        ...call,
        policy: mode === 'none' ? createRetryPolicy({ maxRetries: 0, on: [] }) : policy,
        budget: hasBudget ? call.budget : { kind: 'none' },
      };
    }),
  };
}

const CLIENT = { participation: 'cooperating' } as const;

/** The service that makes a call; a client takes part in everything. */
export function callerOf(
  topology: Topology,
  { from }: TopologyCall,
): Pick<Topology['services'][number], 'participation'> {
  const operation = from === undefined ? undefined : topology.operations[from];
  return (operation === undefined ? undefined : topology.services[operation.service]) ?? CLIENT;
}
