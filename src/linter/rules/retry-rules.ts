import type { Topology, TopologyCall } from '../../simulator/topology.ts';
import type { SourceFormat, Untold } from '../../simulator/topology-source.ts';
import {
  callerName,
  isLayer,
  isRepeatable,
  participationOfCaller,
  retriesAmbiguous,
  retryShareOf,
} from '../call-facts.ts';
import type { RuleFinding } from '../finding.ts';
import { factor } from '../words.ts';

/** Calls whose retries nothing bounds but their number. */
export function noBudgetFindings(topology: Topology): RuleFinding[] {
  const { calls, operations } = topology;
  return [...calls.entries()].flatMap(([index, { from, to, policy, budget }]): RuleFinding[] => {
    if (policy.maxRetries === 0 || retryShareOf(budget) !== Infinity) return [];
    // What a layer is not told to have, it does not have: that is said once, where layers are.
    if (from !== undefined && isLayer(operations[from]!)) return [];
    return [
      {
        rule: 'no-budget',
        call: index,
        message: `while ${operations[to]!.name} fails, ${callerName(topology, calls[index]!)} sends it ${policy.maxRetries + 1} times its load, for as long as that lasts`,
        hint: '`retryBudget: { percent: 10 }` bounds it to 1.1 times',
      },
    ];
  });
}

/** Requests that could do their work twice. */
export function unsafeRetryFindings(
  topology: Topology,
  format: SourceFormat,
  untold: ReadonlySet<Untold>,
): RuleFinding[] {
  const { calls, operations } = topology;
  return [...calls.entries()].flatMap(([index, call]): RuleFinding[] => {
    const target = operations[call.to]!;
    if (isRepeatable(target) || !retriesAmbiguous(call) || isLayer(target)) return [];
    const what = `${target.method} ${target.name}`;
    const keys = 'give its requests an idempotency key (`keyed: true`)';
    if (participationOfCaller(topology, call) === 'legacy')
      return [
        {
          rule: 'unsafe-retry',
          severity: 'error',
          call: index,
          message: `${callerName(topology, call)} sends ${what} again after it may have run, and its requests have no idempotency key: the work may be done twice`,
          hint: `${keys}, or let it retry \`on: [unsent, rejected]\` only`,
        },
      ];
    if (format !== 'topology' && untold.has('keys'))
      return format === 'gateway'
        ? []
        : [
            {
              rule: 'unsafe-retry',
              call: index,
              message: `${what} was sent again in the traces, and they show no idempotency key: the work may have been done twice`,
              hint: 'send an `Idempotency-Key`, and record it as `http.request.header.idempotency-key` if it is there',
            },
          ];
    return [
      {
        rule: 'unsafe-retry',
        call: index,
        message: `a retry of ${what} after it may have run is asked for, and its requests have no idempotency key: mulligan never makes such a retry`,
        hint: `${keys}, or write \`on: [unsent, rejected]\` and no \`codes\` to say what happens`,
      },
    ];
  });
}

/** Calls that are retried by more than one of the layers that they go through. */
export function hiddenLayerFindings(topology: Topology): RuleFinding[] {
  const { calls, operations } = topology;
  return [...calls.entries()].flatMap(([index, call]): RuleFinding[] => {
    if (!isLayer(operations[call.to]!) || isFromLayer(topology, call)) return [];
    const way = wayOf(topology, call);
    const retrying = way.filter(({ policy }) => policy.maxRetries > 0);
    if (retrying.length < 2) return [];
    const product = retrying.reduce((sends, { policy }) => sends * (policy.maxRetries + 1), 1);
    const layers = retrying.map((one) => `${layerName(topology, one)} ${one.policy.maxRetries + 1}`).join(' × ');
    return [
      {
        rule: 'hidden-layers',
        call: index,
        message: `${retrying.length} layers retry this call: ${layers} = ${factor(product)} sends of ${operations[way.at(-1)!.to]!.name} for one`,
        hint: 'let one of them retry, and switch it off in the others: `retry: { attempts: 0 }`',
      },
    ];
  });
}

function isFromLayer({ operations }: Topology, { from }: TopologyCall): boolean {
  return from !== undefined && isLayer(operations[from]!);
}

/** The calls from a service to what it calls, through all the layers between. */
function wayOf({ calls, operations }: Topology, call: TopologyCall): readonly TopologyCall[] {
  const way = [call];
  for (let target = operations[call.to]!; isLayer(target); target = operations[way.at(-1)!.to]!)
    way.push(calls[target.steps[0]![0]!]!);
  return way;
}

/** `sdk` of `shop~sdk/stock~reserve` */
function layerName(topology: Topology, call: TopologyCall): string {
  const name = callerName(topology, call);
  return isFromLayer(topology, call) ? name.split('/')[0]!.split('~').at(-1)! : name;
}
