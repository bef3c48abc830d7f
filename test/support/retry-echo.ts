import type { Behaviour } from './origin-script.ts';

/** State of the Gateway API echo server's retry page: requests seen, by uuid. */
export function createRetryEcho(): (target: string) => Behaviour {
  const seen = new Map<string, number>();
  return (target) => {
    const url = new URL(target, 'http://echo.invalid');
    const uuid = url.searchParams.get('uuid');
    if (uuid === null || !url.pathname.startsWith('/retry'))
      return { do: 'respond', status: 400, body: 'retry-echo: no uuid' };
    const number = (seen.get(uuid) ?? 0) + 1;
    seen.set(uuid, number);
    if (number > Number(url.searchParams.get('succeedAfter') ?? 0))
      return { do: 'respond', body: `succeeded at request ${number}` };
    const delayMs = durationMs(url.searchParams.get('delayRetry'));
    const code = url.searchParams.get('responseCode');
    if (code === null) return { do: 'reset', delayMs };
    return { do: 'respond', status: Number(code), delayMs, body: `failing at request ${number}` };
  };
}

/** `300ms`, `0.3s`, or a bare number of milliseconds. */
function durationMs(text: string | null): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text ?? '0');
  if (match === null) throw new Error(`retry-echo: delayRetry=${text} is not a duration`);
  return Number(match[1]) * (match[2] === 's' ? 1000 : 1);
}
