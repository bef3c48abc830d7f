import type { BudgetConfig } from '../gateway-config.ts';
import { condition } from './condition.ts';
import { inOrderOfAge } from './precedence.ts';
import type { Report } from './read-spec.ts';
import { readSpec } from './read-spec.ts';
import type { Resource } from './resource.ts';
import type { TrafficPolicySpec } from './schema/cluster.ts';
import { trafficPolicy } from './schema/cluster.ts';

/** Retry budgets by Service (`namespace/name`), as backend traffic policies constrain them. Of two for one Service the older holds. */
export function readBudgets(
  resources: readonly Resource[],
  services: ReadonlySet<string>,
  report: Report,
): ReadonlyMap<string, BudgetConfig> {
  const budgets = new Map<string, BudgetConfig>();
  const owners = new Map<string, Resource>();
  const policies = resources.filter(({ kind }) => kind === 'BackendTrafficPolicy').toSorted(inOrderOfAge);
  for (const resource of policies) {
    const read = readSpec(resource, trafficPolicy, report);
    if (read === undefined) continue;
    const { targetRefs, retryConstraint } = read.spec;
    for (const [index, { group, kind, name }] of targetRefs.entries()) {
      const service = `${resource.namespace}/${name}`;
      const tell = (status: 'True' | 'False', reason: string, message: string = ''): void =>
        void report.conditions.push(
          condition(resource, 'Accepted', status, reason, {
            section: `target ${name}`,
            path: ['spec', 'targetRefs', index],
            message,
          }),
        );
      const owner = owners.get(service);
      if ((group !== '' && group !== 'core') || kind !== 'Service')
        tell('False', 'Invalid', `${kind} is not supported: targets are Services`);
      else if (!services.has(service)) tell('False', 'TargetNotFound', `there is no Service ${service} in the folder`);
      else if (owner !== undefined) tell('False', 'Conflicted', `${owner.name} is older and targets the same Service`);
      else {
        owners.set(service, resource);
        if (retryConstraint !== undefined) budgets.set(service, budgetOf(retryConstraint));
        tell('True', 'Accepted');
      }
    }
  }
  return budgets;
}

function budgetOf({ budget, minRetryRate }: NonNullable<TrafficPolicySpec['spec']['retryConstraint']>): BudgetConfig {
  // Our window is a second at least: a rate per less is the same rate per second.
  const perSecond = minRetryRate.interval < 1000;
  return {
    kind: 'ratio',
    percent: budget.percent,
    intervalMs: budget.interval,
    minRetryRate: {
      count: perSecond
        ? Math.min(1_000_000, Math.ceil((minRetryRate.count * 1000) / minRetryRate.interval))
        : minRetryRate.count,
      intervalMs: perSecond ? 1000 : minRetryRate.interval,
    },
  };
}
