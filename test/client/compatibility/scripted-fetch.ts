import { setImmediate as nextTurn } from 'node:timers/promises';
import { attemptsOf } from '../../../src/client/attempts.ts';
import { createCallTransport } from '../../../src/client/call/call-transport.ts';
import { isRequestFailedError } from '../../../src/client/errors.ts';
import type { LayerOptions } from '../../../src/client/layer-options.ts';
import type { WrappedInit } from '../../../src/client/wrap-fetch.ts';
import { wrapFetchAt } from '../../../src/client/wrap-fetch.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** The wall clock of these cases when they begin. */
export const WALL_MS: number = Date.UTC(2026, 10, 29, 12, 0, 0);

/** How an attempt ends: a status with fields, the code of an error, or never. */
export type ScriptedEnd = number | readonly [status: number, headers: Readonly<Record<string, string>>] | string;

export interface ScriptedRequest {
  /** The last one holds for all that follow. */
  readonly ends: readonly ScriptedEnd[];
  readonly options?: LayerOptions;
  readonly init?: WrappedInit;
  /** The caller gives up then. */
  readonly abortAtMs?: number;
}

/** Times are exact: nothing of this waits. */
export const AT_ONCE = { backoffMs: 0, maxBackoffMs: 0 } as const;

const MOST_STEPS = 5_000;

/**
 * Runs one request over a `fetch` that answers as scripted, in a time that jumps from one timer to the next.
 * @returns when attempts were sent, and what their sender got when
 */
export async function runScripted({ ends, options = {}, init = {}, abortAtMs }: ScriptedRequest): Promise<string> {
  const clock = createManualClock(0, WALL_MS);
  const aborter = new AbortController();
  const sentAtMs: number[] = [];
  const inner = (_: unknown, { signal }: RequestInit = {}): Promise<Response> => {
    const end = ends[Math.min(sentAtMs.length, ends.length - 1)]!;
    sentAtMs.push(clock.nowMs());
    if (end === 'hang') return hang(signal);
    if (typeof end === 'string')
      return Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(end), { code: end }) }));
    const [status, headers] = typeof end === 'number' ? [end, {}] : end;
    return Promise.resolve(new Response(status === 204 || status === 304 ? null : 'body', { status, headers }));
  };
  const host = { clock, random: () => 0.999_999, transport: createCallTransport(clock) };
  const wrapped = wrapFetchAt(inner, options, host);
  let outcome: string | undefined;
  const call = wrapped('http://origin.example/', { signal: aborter.signal, redirect: 'manual', ...init });
  void call.then(
    async (response) => {
      await response.text();
      outcome = `${response.status} ${attemptsOf(response)?.reason}`;
    },
    (error: unknown) => (outcome = describe(error)),
  );
  if (abortAtMs !== undefined) clock.setTimer(abortAtMs, () => aborter.abort());
  for (let step = 0; outcome === undefined && step < MOST_STEPS; step += 1) {
    await nextTurn();
    await nextTurn();
    if (outcome === undefined && clock.nextDueMs !== undefined) clock.advance(clock.nextDueMs - clock.nowMs());
  }
  return `sent at ${sentAtMs.map(shown).join(', ')} ms; ${outcome} at ${shown(clock.nowMs())} ms`;
}

/** Chance is just below 1 here. */
function shown(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function hang(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}

function describe(error: unknown): string {
  if (isRequestFailedError(error)) return `${error.kind} ${error.reason}`;
  const { name, cause } = error as Error & { cause?: { code?: string } };
  const reason = attemptsOf(error as object)?.reason;
  return [cause?.code ?? name, reason].filter((part) => part !== undefined).join(' ');
}
