import type { Classifier } from '../../src/client/classifier.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import type { RetryOptions } from '../../src/client/options.ts';
import { presets } from '../../src/client/presets.ts';

export const here = '127.0.0.1';
export const BUSY = { do: 'respond', status: 503 } as const;
export const FINE = { do: 'respond' } as const;

export const busyAgain: Classifier = ({ status }) => (status === 503 ? 'retryable' : 'success');
export const failureAgain: Classifier = ({ failure }) => (failure === undefined ? 'success' : 'retryable');

/** The lab's policy for a host, with what a line of it adds. */
export function scoped(
  retry: RetryOptions,
  budget: ClientOptions['budget'] = presets.reqwestScoped.budget,
): ClientOptions {
  return { ...presets.reqwestScoped, budget, retry: { ...presets.reqwestScoped.retry, ...retry } };
}
