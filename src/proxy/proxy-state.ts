import type { EventChannel } from '../core/observer.ts';
import type { Clock } from '../transport/clock.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import type { Selection } from '../engine/run-host.ts';
import type { AccessRecord } from './access-record.ts';
import type { ClientPeer } from './client-peer.ts';
import type { ProxyHooks, UpstreamChoice } from './phases.ts';
import type { ExchangePlan } from './plan.ts';
import type { Tracing } from './request-trace.ts';

/** Where lines for people go: one a retry (`warn`), one at the end of a failed request (`error`). */
export type Diagnostics = (level: 'warn' | 'error', message: string) => void;

/** What all exchanges of a proxy share. */
export interface ProxyState<Context> {
  readonly hooks: ProxyHooks<Context>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly replayMemory: ReplayMemory;
  /** For requests whose filter does not set one. */
  readonly plan: ExchangePlan;
  readonly diagnostics: Diagnostics | undefined;
  readonly onRecord: ((record: AccessRecord) => void) | undefined;
  readonly events: EventChannel | undefined;
  readonly tracing: Tracing | undefined;
  /** The name by which this proxy, and no other, knows itself in `Via`. */
  readonly pseudonym: string;
  /** Whether what the peer says of earlier attempts and of its own patience is believed. */
  trustsPeer(peer: ClientPeer): boolean;
  /** 1 for the first. */
  nextRequestId(): number;
  /** @throws RangeError when a choice names no valid address */
  resolveChoice(choice: UpstreamChoice | undefined): Selection | undefined;
  /** Called once an exchange, after its record. */
  exchangeEnded(): void;
  /** User code threw that no answer depends on: there is nobody to tell but the log. */
  hookFault(error: unknown): void;
}
