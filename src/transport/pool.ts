import type { EndpointAddress } from './transport.ts';

/** Connections to an endpoint. */
export interface PoolStats {
  /** Connections, those being established included. */
  readonly open: number;
  /** Open and without a request. */
  readonly idle: number;
  /** Attempts that wait for a connection. */
  readonly waiting: number;
}

export interface PoolOwner {
  socketOpened(): void;
  socketClosed(): void;
}

/** What connections must have in common to stand for one another; the rest of it one transport has only once. */
export function poolKey({ key, name }: EndpointAddress): string {
  return name === undefined ? key : `${key} ${name}`;
}
