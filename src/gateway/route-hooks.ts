import type { AccessRecord } from '../proxy/access-record.ts';
import { localResponse, renderErrorResponse } from '../proxy/error-response.ts';
import type { LocalAnswer, ProxyHooks } from '../proxy/phases.ts';
import type { GatewayState } from './build.ts';
import type { Rewrite } from './rewrite.ts';
import { setHost } from './rewrite.ts';
import type { RoutePlan } from './route-plan.ts';

/** What the gateway remembers of a request. */
interface RouteContext {
  /** Path and query as the upstream gets them. */
  path: string;
  /** Undefined: no route took the request. */
  plan: RoutePlan | undefined;
}

/**
 * The gateway as user code of the proxy: it routes, and writes the record. `state` is asked once a request: whatever a
 * reload changes, every step of a request belongs to the configuration that routed it.
 */
export function createRouteHooks(
  state: () => GatewayState,
  log: (record: AccessRecord) => void,
): ProxyHooks<RouteContext> {
  return {
    createContext: (request) => ({ path: request.path, plan: undefined }),
    requestFilter(exchange) {
      const { request, context } = exchange;
      const routing = state().router.route(request);
      switch (routing.type) {
        case 'route':
          context.plan = routing.target.next();
          context.path = rewritten(routing.path, context.plan.rewrite);
          exchange.plan = context.plan;
          return undefined;
        case 'no-route':
          return { ...answer(404, 'No route of this gateway matches the request.'), flag: 'NR' };
        case 'bad-request':
          return answer(400, `The request target is refused: ${routing.reason}.`);
      }
    },
    selectUpstream({ plan: { upstream, fallback }, attemptNumber }) {
      // A first attempt keeps to the shares of the route, or an empty target would move its traffic without a trace.
      if (attemptNumber === 0 || upstream === undefined || upstream.hasEndpoint()) return upstream;
      return fallback?.() ?? upstream;
    },
    upstreamRequestFilter({ context }, request, endpoint) {
      request.path = context.path;
      const host = context.plan?.rewrite?.host(endpoint);
      if (host !== undefined) setHost(request.fields, host);
    },
    log: (_exchange, record) => log(record),
  };
}

/** @param path With its query, which stays. */
function rewritten(path: string, rewrite: Rewrite | undefined): string {
  if (rewrite === undefined || path === '*') return path;
  const query = path.indexOf('?');
  return query === -1 ? rewrite.path(path) : rewrite.path(path.slice(0, query)) + path.slice(query);
}

function answer(status: number, detail: string): LocalAnswer {
  const { fields, body } = renderErrorResponse(localResponse(status, detail), { attempts: 0 });
  return { status, fields, body };
}
