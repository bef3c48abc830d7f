import type { MulliganEvent } from '../../core/observer.ts';

/** Every type of event and what it says, in the order of the documentation. */
export const EVENT_TYPES: Readonly<Record<MulliganEvent['type'], string>> = {
  'retry-scheduled': 'an attempt ended and another one follows',
  'retry-suppressed': 'something went wrong and is not retried, and why',
  'request-ended': 'a request ended: what the client got',
  'endpoint-ejected': 'an endpoint was taken out because its attempts failed',
  'endpoint-returned': 'an ejected endpoint is back',
  'endpoint-health-changed': 'active health checks changed their mind about an endpoint',
  'endpoint-drain-changed': 'an operator took an endpoint out, or put it back',
  'breaker-changed': 'a circuit breaker opened, closed or lets a few through',
  'config-reloaded': 'another configuration was taken into use, or refused',
  'drain-began': 'the gateway stops',
};

export type FilterReading =
  | { readonly ok: true; readonly wants: (event: MulliganEvent) => boolean }
  | { readonly ok: false; readonly detail: string };

const PARAMETERS: ReadonlySet<string> = new Set(['route', 'upstream', 'type']);
const MAX_QUERY_LENGTH = 2000;

/** Reads `route`, `upstream` and `type`; each may be there several times, or hold several words with commas. */
export function readFilter(query: string): FilterReading {
  if (query.length > MAX_QUERY_LENGTH) return { ok: false, detail: 'The query is too long.' };
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (!PARAMETERS.has(name)) return { ok: false, detail: 'Filters are route, upstream and type.' };
  }
  const wordsOf = (name: string): ReadonlySet<string> | undefined => {
    const words = parameters.getAll(name).flatMap((value) => value.split(','));
    return words.length === 0 ? undefined : new Set(words);
  };
  const types = wordsOf('type');
  for (const type of types ?? []) {
    if (!Object.hasOwn(EVENT_TYPES, type))
      return { ok: false, detail: `Types of events are ${Object.keys(EVENT_TYPES).join(', ')}.` };
  }
  const routes = wordsOf('route');
  const upstreams = wordsOf('upstream');
  return {
    ok: true,
    wants(event) {
      if (types?.has(event.type) === false) return false;
      // An event of no route or upstream (a reload) is not what a filter on one asks for.
      if (routes !== undefined && !('route' in event && routes.has(event.route ?? ''))) return false;
      return upstreams === undefined || ('upstream' in event && upstreams.has(event.upstream ?? ''));
    },
  };
}
