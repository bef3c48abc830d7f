import type { EndpointAddress } from '../transport/transport.ts';
import type { ClientPeer } from './client-peer.ts';

/**
 * With whom a proxy takes part in error ownership. Towards its upstreams it is a caller, which reads claims and obeys
 * them; towards its clients it is a service, which makes claims of its own. How far it obeys is the policy's `ownership`.
 */
export interface OwnershipRules {
  /** Whether this client is one to tell a claim to. When it throws, it is not. */
  trustsCaller(peer: ClientPeer): boolean;
  /** Whether the claims and the advice of this endpoint are believed, and it is told how much time is left for it. */
  trustsCallee(upstream: string, endpoint: EndpointAddress): boolean;
  /** What a claim names as the source of an error of this proxy itself; `undefined` names nothing. */
  readonly service?: string | undefined;
  /** Milliseconds kept for the way back of an answer. Default 5. */
  readonly marginMs?: number | undefined;
  /** Whether the older `x-uber-error-claim` is written too. Default false. */
  readonly alias?: boolean | undefined;
  /** In one of so many requests a claim is not obeyed, to see whether the retry would have helped. Default 0: in none. */
  readonly probeEvery?: number | undefined;
}

export const DEFAULT_MARGIN_MS = 5;
