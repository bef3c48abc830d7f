import { DEFAULT_RETRY_POLICY } from '../core/presets/default.ts';
import type { ExchangePlan } from './plan.ts';
import { DEFAULT_REPLAY_BUFFER_BYTES, DEFAULT_TIMEOUTS } from './plan.ts';
import type { ProxyOptions } from './proxy.ts';

type PlanOptions = Pick<ProxyOptions, 'policy' | 'timeouts' | 'replayBufferBytes' | 'ownership'>;

/**
 * How requests are treated whose filter says nothing else, also those that never reach a filter.
 * @param hookFault Told when the question about ownership throws: that request takes part with nobody.
 */
export function createDefaultPlan(options: PlanOptions, hookFault: (error: unknown) => void): () => ExchangePlan {
  const { ownership } = options;
  let plan: ExchangePlan = {
    routeName: undefined,
    upstream: undefined,
    policy: options.policy ?? DEFAULT_RETRY_POLICY,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    replayBufferBytes: options.replayBufferBytes ?? DEFAULT_REPLAY_BUFFER_BYTES,
    ownership: undefined,
  };
  if (typeof ownership !== 'function') {
    plan = { ...plan, ownership };
    return () => plan;
  }
  const rulesNow = (): ExchangePlan['ownership'] => {
    try {
      return ownership();
    } catch (error) {
      hookFault(new Error('ownership failed, and nobody is trusted', { cause: error }));
      return undefined;
    }
  };
  return () => {
    const rules = rulesNow();
    // Mostly the same ones: a plan of its own for each request would be garbage.
    if (rules !== plan.ownership) plan = { ...plan, ownership: rules };
    return plan;
  };
}
