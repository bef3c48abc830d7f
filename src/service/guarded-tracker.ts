import type { OutboundTracker, TrackedCall } from '../engine/outbound-tracking.ts';
import type { Guard } from './hooks/guard.ts';

/** The tracker for clients of calls: one that cannot begin a call lets its client go on as if there were no service. */
export function guardedTracker(tracker: OutboundTracker, guard: Guard): OutboundTracker {
  return { begin: (start) => guard.run('tracker.begin', () => tracker.begin(start)) ?? ALONE };
}

const ALONE: TrackedCall = {
  lineage: 0,
  deadlineAtMs: Infinity,
  marginMs: 0,
  mode: 'off',
  readClaim: () => undefined,
  attempt: (send) => send(),
  note() {},
  end() {},
  caused() {},
};
