import type { Topology, TopologyCall } from '../../simulator/topology.ts';
import { attemptLimitMs, callerName, isLayer, longestWaitsMs } from '../call-facts.ts';
import type { RuleFinding } from '../finding.ts';
import { leastMarginMs, type NeededTimeouts, orderedTimeouts } from '../ordered-timeouts.ts';
import { type DisorderedTimeouts, disorderedTimeouts } from '../timeout-order.ts';
import { time } from '../words.ts';

/** Of each call the one below it that outlasts it most. */
export function timeoutOrderFindings(topology: Topology): RuleFinding[] {
  const worst = new Map<number, DisorderedTimeouts>();
  for (const pair of disorderedTimeouts(topology)) {
    const { from, policy } = topology.calls[pair.call]!;
    // A client that tries once and leaves early is nobody's storm.
    if (from === undefined && policy.maxRetries === 0) continue;
    const known = worst.get(pair.call);
    if (known === undefined || pair.takesMs > known.takesMs) worst.set(pair.call, pair);
  }
  const needed = orderedTimeouts(topology);
  return [...worst.values()].map((pair) => timeoutOrderFinding(topology, pair, needed(pair.call)));
}

function timeoutOrderFinding(
  topology: Topology,
  { call, below, waitsMs, takesMs }: DisorderedTimeouts,
  needed: NeededTimeouts,
): RuleFinding {
  const { calls, operations, deadlines } = topology;
  const upper = calls[call]!;
  const lowerCallee = operations[calls[below]!.to]!.name;
  const takes = takesMs === Infinity ? 'without any limit' : `up to ${time(takesMs)}, its retries and waits included`;
  const ending =
    upper.policy.maxRetries > 0
      ? 'what it retries runs beside what goes on below'
      : 'nobody waits for what goes on below';
  const shorterMs = waitsMs - leastMarginMs(topology);
  const hints = [
    ...(takesMs === Infinity ? [] : [`give this call ${limitsText(upper, needed)}`]),
    ...(shorterMs > 0 ? [`let the call of ${lowerCallee} have at most \`request: ${time(shorterMs)}\``] : []),
    ...(deadlines.propagate ? [] : ['switch `deadlines: { propagate: true }` on']),
  ];
  return {
    rule: 'timeout-order',
    call,
    message: `${callerName(topology, upper)} waits ${time(waitsMs)} for ${operations[upper.to]!.name}, which may wait ${takes}, for ${lowerCallee}: it gives up first, and ${ending}`,
    hint: hints.join('; or '),
  };
}

/** When the attempts become longer, so must the whole. */
function limitsText({ timeouts }: TopologyCall, { attemptMs, requestMs }: NeededTimeouts): string {
  const whole = requestMs === 0 || requestMs === timeouts.requestMs ? '' : `, with \`request: ${time(requestMs)}\``;
  return `\`backendRequest: ${time(attemptMs)}\` or more${whole}`;
}

/** Calls that may wait for ever. */
export function noTimeoutFindings(topology: Topology): RuleFinding[] {
  const { calls, operations } = topology;
  return [...calls.entries()].flatMap(([index, call]): RuleFinding[] => {
    // A client that waits for ever holds nothing of the system but itself.
    if (attemptLimitMs(call) !== Infinity || call.from === undefined || isOfLayer(topology, call)) return [];
    return [
      {
        rule: 'no-timeout',
        call: index,
        message: `${callerName(topology, call)} may wait for ${operations[call.to]!.name} for ever: a callee that hangs takes its caller with it`,
        hint: 'for example `timeouts: { request: 2s, backendRequest: 500ms }`',
      },
    ];
  });
}

/** Calls that retry a timeout, and whose first attempt may use up all of the time. */
export function noTimeToRetryFindings(topology: Topology): RuleFinding[] {
  const { calls, operations } = topology;
  return [...calls.entries()].flatMap(([index, call]): RuleFinding[] => {
    const { policy, timeouts } = call;
    const { requestMs } = timeouts;
    if (policy.maxRetries === 0 || !policy.on.has('timeout') || requestMs === 0) return [];
    if (attemptLimitMs(call) < requestMs) return [];
    const eachMs = Math.floor((requestMs - longestWaitsMs(policy, policy.maxRetries)) / (policy.maxRetries + 1));
    return [
      {
        rule: 'no-time-to-retry',
        call: index,
        message: `${callerName(topology, call)} retries ${operations[call.to]!.name} after a timeout, but one attempt may take all of its ${time(requestMs)}: no retry is ever sent`,
        hint:
          eachMs > 0
            ? `\`backendRequest: ${time(eachMs)}\` leaves each of the ${policy.maxRetries + 1} attempts its time; or leave \`timeout\` out of \`on\``
            : 'leave `timeout` out of `on`',
      },
    ];
  });
}

/** A layer that has no limit of its own is held by that of the service before it. */
function isOfLayer({ operations }: Topology, { from }: TopologyCall): boolean {
  return from !== undefined && isLayer(operations[from]!);
}
