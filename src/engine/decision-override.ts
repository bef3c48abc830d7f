import type { Decision } from '../core/decision.ts';
import type { Circumstances, RequestSession } from '../core/request-session.ts';
import type { DecisionOverride } from './run-host.ts';

/** Lets a host's word change a decision as far as it may: see `DecisionOverride`. */
export function overrideDecision(
  session: RequestSession,
  proposed: Decision,
  override: DecisionOverride,
  at: Circumstances,
  nowMs: number,
  random: number,
): Decision {
  if (override.type === 'stop') {
    if (proposed.type === 'stop') return proposed;
    session.retryNotSent(nowMs, 'not-retryable');
    return { type: 'stop', reason: 'not-retryable', handled: false, safety: proposed.safety };
  }
  const decision = proposed.type === 'retry' ? proposed : session.reconsider(at, nowMs, random);
  const { delayMs } = override;
  if (decision.type === 'stop' || delayMs === undefined) return decision;
  if (nowMs + delayMs >= session.facts.deadlineAtMs) {
    session.retryNotSent(nowMs, 'deadline');
    return { type: 'stop', reason: 'deadline', handled: true, safety: decision.safety };
  }
  return { ...decision, delayMs: Math.max(0, delayMs) };
}
