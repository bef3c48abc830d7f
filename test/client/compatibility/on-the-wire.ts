import type { TestContext } from 'node:test';
import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { attemptsOf } from '../../../src/client/attempts.ts';
import type { ClientOptions } from '../../../src/client/client-options.ts';
import { createDispatcher } from '../../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../../src/client/errors.ts';
import type { OriginScript } from '../../support/origin-script.ts';
import type { ScriptedOrigin } from '../../support/scripted-origin.ts';
import { startOrigin } from '../../support/scripted-origin.ts';

export const BUSY = { do: 'respond', status: 500, body: 'failed' } as const;
export const FINE = { do: 'respond', body: 'hello world!' } as const;
export const RESET = { do: 'reset' } as const;

/** What undici retries by default, named: ours retries nothing that may have been processed unless it is. */
export const AS_UNDICI: ClientOptions = {
  retry: {
    maxRetries: 5,
    codes: [429, 500, 502, 503, 504],
    on: ['unsent', 'rejected', 'stale', 'reset'],
    backoffMs: 0,
    maxBackoffMs: 0,
  },
};

export interface Wire {
  readonly origin: ScriptedOrigin;
  readonly dispatcher: Dispatcher;
  readonly url: string;
}

export async function startWire(
  t: TestContext,
  script: OriginScript,
  options: ClientOptions = AS_UNDICI,
): Promise<Wire> {
  const origin = await startOrigin(script, { t });
  const dispatcher = createDispatcher(options);
  t.after(() => dispatcher.destroy());
  return { origin, dispatcher, url: `http://${origin.address}/` };
}

export type RequestOptions = NonNullable<Parameters<typeof request>[1]>;

/** @returns what came of one request: the status and body, or the failure; and why nothing more was sent */
export async function outcomeOf(
  { dispatcher, url }: Pick<Wire, 'dispatcher' | 'url'>,
  options: RequestOptions = {},
): Promise<string> {
  try {
    const answer = await request(url, { dispatcher, ...options });
    const text = await answer.body.text();
    return `${answer.statusCode} ${text === '' ? '' : `“${text}” `}${attemptsOf(answer)?.reason}`;
  } catch (error) {
    if (isRequestFailedError(error)) return `${error.kind} ${error.reason}`;
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

/** Of a request on a script: how many requests the origin saw, and the outcome. */
export function sending(
  script: OriginScript,
  options: RequestOptions = {},
  clientOptions: ClientOptions = AS_UNDICI,
): (t: TestContext) => Promise<string> {
  return async (t) => {
    const wire = await startWire(t, script, clientOptions);
    const outcome = await outcomeOf(wire, options);
    return `${wire.origin.requestCount()} sent; ${outcome}`;
  };
}
