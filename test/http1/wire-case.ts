/** Wire texts with what a strict reader makes of them; every test of a property runs over all of them. */
export interface RefusedCase {
  readonly why: string;
  readonly text: string;
  readonly code: string;
  /** For requests: the status that the fault carries. */
  readonly status: number;
}

export interface AcceptedCase {
  readonly why: string;
  readonly text: string;
  /** `start|fields, flat|body|trailers, flat|keepAlive`, one a message. */
  readonly reads: readonly string[];
}

/** Cases of one fault, by why they are refused. */
export const refused = (status: number, code: string, cases: Record<string, string>): RefusedCase[] =>
  Object.entries(cases).map(([why, text]) => ({ why, text, code, status }));
