import type { OriginWord } from './scenario.ts';

/** One request as an origin saw it, whole or not. */
export interface Seen {
  readonly complete: boolean;
  readonly bodySha256: string;
  readonly bodyBytes: number;
  readonly key: string | undefined;
  /** Its `Request-Attempt`. */
  readonly attempt: string | undefined;
  readonly trailers: readonly string[];
  /** The gateway gave it up before the answer was complete. */
  readonly isLeft: boolean;
  /** What made its bytes illegal, if anything did. */
  readonly fault: string | undefined;
}

/** An origin of a case, whatever it speaks. */
export interface Target {
  /** `host:port` */
  readonly address: string;
  readonly seen: readonly Seen[];
  /** Connections that the gateway has not ended. */
  readonly openCount: number;
  openGate(name: string): void;
  /** An origin that reads nothing any more sees what has come meanwhile. */
  readOn?(): void;
  close(): Promise<void>;
}

export const warmPath = '/warm';

/** A request whose content is of no interest. */
export const unread: Seen = {
  complete: true,
  bodySha256: '',
  bodyBytes: 0,
  key: undefined,
  attempt: undefined,
  trailers: [],
  isLeft: false,
  fault: undefined,
};

/** The words of a list one after another; the last one repeats. */
export function inOrder(says: OriginWord | readonly OriginWord[]): () => OriginWord {
  const words = Array.isArray(says) ? (says as readonly OriginWord[]) : [says as OriginWord];
  let at = 0;
  return () => words[Math.min(at++, words.length - 1)]!;
}
