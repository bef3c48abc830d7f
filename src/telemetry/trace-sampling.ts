import type { TraceContext } from './trace-context.ts';

/**
 * Which requests are recorded.
 * - `parent`: as the client's context says; one without a context is recorded.
 * - `always`: every one, also where the client does not record.
 * - `ratio`, from 0 to 1: that share of the traces, chosen by trace id, so that every hop chooses the same ones. A client
 *   that does not record is not recorded; that it does record changes nothing, so it cannot raise the share.
 */
export type TraceSampling = 'parent' | 'always' | { readonly ratio: number };

/** The last 56 bits of a trace id are random (W3C Trace Context level 2); a number holds 52 of them exactly. */
const RANDOM_DIGITS_FROM = 18;
const RANDOM_DIGITS_TO = 31;
const RANDOM_RANGE = 2 ** 52;

/** @param parent The client's context. */
export function isRecorded(sampling: TraceSampling, parent: TraceContext | undefined, traceId: string): boolean {
  if (sampling === 'always') return true;
  if (sampling === 'parent') return parent?.sampled ?? true;
  if (parent?.sampled === false) return false;
  const random = Number.parseInt(traceId.slice(RANDOM_DIGITS_FROM, RANDOM_DIGITS_TO), 16);
  // The upper end is taken, as OpenTelemetry's consistent sampling does: who samples more takes all of these, and more.
  return random >= (1 - sampling.ratio) * RANDOM_RANGE;
}
