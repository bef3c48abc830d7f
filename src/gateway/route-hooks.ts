import type { AccessRecord } from '../proxy/access-record.ts';
import { localResponse, renderErrorResponse } from '../proxy/error-response.ts';
import type { LocalAnswer, ProxyHooks } from '../proxy/phases.ts';
import type { GatewayState } from './build.ts';

/** What the gateway remembers of a request. */
interface RouteContext {
  /** Canonical path and query: what the upstream gets. */
  path: string;
  routed: boolean;
}

/** The gateway as user code of the proxy: it routes, and writes the record. `state` is asked anew at every step, so a reload shows at once. */
export function createRouteHooks(
  state: () => GatewayState,
  log: (record: AccessRecord) => void,
): ProxyHooks<RouteContext> {
  return {
    createContext: (request) => ({ path: request.path, routed: false }),
    requestFilter(exchange) {
      const { request, context } = exchange;
      const routing = state().router.route(request);
      switch (routing.type) {
        case 'route':
          exchange.plan = routing.target;
          context.path = routing.path;
          context.routed = true;
          return undefined;
        case 'no-route':
          return answer(404, 'No route of this gateway matches the request.');
        case 'bad-request':
          return answer(400, `The request target is refused: ${routing.reason}.`);
      }
    },
    selectUpstream({ plan }) {
      // A retry after a reload goes to the endpoints of today; those of an upstream that is gone serve what they began.
      const planned = plan.upstream;
      return planned === undefined ? undefined : (state().upstreams.get(planned.name)?.upstream ?? planned);
    },
    upstreamRequestFilter({ context }, request) {
      request.path = context.path;
    },
    log({ context }, record) {
      const lost = record.status === 404 && !context?.routed;
      log(lost ? { ...record, flags: [...record.flags, 'NR'] } : record);
    },
  };
}

function answer(status: number, detail: string): LocalAnswer {
  const { fields, body } = renderErrorResponse(localResponse(status, detail), { attempts: 0 });
  return { status, fields, body };
}
