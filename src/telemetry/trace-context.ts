/** Which trace something belongs to, and what caused it (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them: the span that caused it. */
  readonly spanId: string;
  /** Whether its sender says that it records. */
  readonly sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Reads the values of all `traceparent` fields of a request. Undefined when there is none, or more than one, or when it
 * is malformed: the request then begins a trace of its own (W3C Trace Context §3.2, §4.3). Of a later version, what
 * version 00 says is read.
 */
export function readTraceparent(values: readonly string[]): TraceContext | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1) return undefined;
  const match = TRACEPARENT.exec(value);
  if (match === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function writeTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}
