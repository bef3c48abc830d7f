import type { AccessRecord } from '../proxy/access-record.ts';
import type { Exchange, ProxyHooks } from '../proxy/phases.ts';
import { LOG_OFF } from './access-log.ts';
import type { GatewayState } from './build.ts';
import { changedFields } from './filters/field-changes.ts';
import type { CopyInMaking } from './filters/request-copy.ts';
import { localAnswer } from './route-answer.ts';
import type { Rewrite } from './rewrite.ts';
import { setHost } from './rewrite.ts';
import type { RoutePlan } from './route-plan.ts';

/** What the gateway remembers of a request. */
interface RouteContext {
  /** Path and query as the upstream gets them. */
  path: string;
  /** Undefined: no route sent the request on. */
  plan: RoutePlan | undefined;
  /** For mirrors of the route. */
  copy: CopyInMaking | undefined;
}

/**
 * The gateway as user code of the proxy: it routes, and writes the record. `state` is asked once a request: whatever a
 * reload changes, every step of a request belongs to the configuration that routed it.
 */
export function createRouteHooks(
  state: () => GatewayState,
  log: (record: AccessRecord) => void,
): ProxyHooks<RouteContext> {
  const logRecord = (_exchange: unknown, record: AccessRecord): void => log(record);
  return {
    createContext: (request) => ({ path: request.path, plan: undefined, copy: undefined }),
    requestFilter(exchange) {
      const { request, context } = exchange;
      const routing = state().router.route(request);
      switch (routing.type) {
        case 'route': {
          const step = routing.target.next();
          if ('answer' in step) {
            exchange.plan = { ...exchange.plan, routeName: step.routeName, ownership: step.ownership };
            return step.answer(request, routing.path);
          }
          context.plan = step;
          context.path = rewritten(routing.path, step.rewrite);
          exchange.plan = step;
          if (step.copy !== undefined && request.method !== 'CONNECT') copyOf(exchange, step);
          return undefined;
        }
        case 'no-route':
          return { ...localAnswer(404, 'No route of this gateway matches the request.'), flag: 'NR' };
        case 'bad-request':
          return localAnswer(400, `The request target is refused: ${routing.reason}.`);
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
      if (context.plan?.requestFields !== undefined)
        request.fields = changedFields(request.fields, context.plan.requestFields);
      context.copy?.head(request);
    },
    responseFilter({ context }, response) {
      if (context.plan?.responseFields !== undefined)
        response.fields = changedFields(response.fields, context.plan.responseFields);
    },
    get log() {
      const { accessLog, admin } = state().config;
      return accessLog.path === LOG_OFF && admin === undefined ? undefined : logRecord;
    },
  };
}

/** @param path With its query, which stays. */
function rewritten(path: string, rewrite: Rewrite | undefined): string {
  if (rewrite === undefined || path === '*') return path;
  const query = path.indexOf('?');
  return query === -1 ? rewrite.path(path) : rewrite.path(path.slice(0, query)) + path.slice(query);
}

/** Has the request's body noted as it passes by, for those mirrors of the route that take this request. */
function copyOf(exchange: Exchange<RouteContext>, step: RoutePlan): void {
  const copy = step.copy?.();
  if (copy === undefined) return;
  exchange.context.copy = copy;
  exchange.plan = { ...step, tapBody: (source) => copy.tap(source) };
}
