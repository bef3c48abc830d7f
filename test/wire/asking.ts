import type { Asked, Scenario } from './scenario.ts';

/** A request as the client of a case makes it, whatever carries it. */
export interface Asking {
  readonly method: string;
  readonly path: string;
  /** Beside those that frame the message. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
  readonly isChunked: boolean;
  readonly trailers: Readonly<Record<string, string>> | undefined;
}

/** What a client has been told. */
export interface Heard {
  /** 0: no final head came. */
  readonly status: number;
  readonly interim: readonly number[];
  readonly text: string;
  readonly bodyBytes: number;
  readonly trailers: readonly string[];
  /** Whether the answer came to its proper end, or visibly did not. Undefined: it is still coming. */
  readonly ending: 'whole' | 'cut' | 'none' | undefined;
  /** What was illegal about it. */
  readonly fault: string | undefined;
  values(name: string): readonly string[];
}

/**
 * Real time after which a case is given up that never comes to rest. No case needs a second of its own, but each waits for
 * all others, and the machine may be busy.
 */
export const patienceMs = 60_000;

/** A client of a case, on one connection. */
export interface WireClient {
  /** Begins the request: its head, and so much of its body. */
  ask(asking: Asking, bodyBytes: number): void;
  sendRest(): void;
  raw(bytes: string): void;
  /** What became of the latest request. */
  readonly heard: Heard;
  leave(how: 'close' | 'reset'): void;
  halfClose(): void;
  stopReading(): void;
  readOn(): void;
  waitFor(check: () => boolean, what: string): Promise<void>;
  close(): void;
}

const bodyOf = (byteCount: number): Buffer => Buffer.alloc(byteCount, 'work');

export function askingOf(scenario: Scenario, asked: Asked, fields: readonly (readonly [string, string])[]): Asking {
  const method = asked === 'keyed POST' ? 'POST' : asked;
  const hasBody = method === 'PUT' || method === 'POST';
  return {
    method,
    path: '/work',
    fields: asked === 'keyed POST' ? [...fields, ['Idempotency-Key', '"k1"']] : fields,
    body: hasBody ? bodyOf(scenario.bodyBytes ?? 4) : undefined,
    isChunked: scenario.framing === 'chunked',
    trailers: hasBody ? scenario.trailers : undefined,
  };
}

export function get(path: string): Asking {
  return { method: 'GET', path, fields: [], body: undefined, isChunked: false, trailers: undefined };
}
