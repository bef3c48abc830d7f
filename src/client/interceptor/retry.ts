import { createSystemClock } from '../../transport/system-time.ts';
import { readHandler } from '../dispatch-handler.ts';
import type { LayerHost, LayerOptions } from '../layer-options.ts';
import { createLayer } from '../layer-options.ts';
import { DispatchCall } from './dispatch-call.ts';
import { createDispatchTransport } from './dispatch-transport.ts';
import type { Dispatch, InterceptedOptions } from './intercepted-request.ts';
import { InterceptedRequest } from './intercepted-request.ts';

/**
 * What `compose` of a dispatcher takes, of undici 6, 7 and 8 and of the fetch that comes with Node: their types differ in
 * what is not read here.
 */
// eslint-disable-next-line typescript/no-explicit-any -- the three majors agree on nothing narrower
export type RetryInterceptor = (dispatch: any) => (options: any, handler: any) => boolean;

/**
 * The retry loop as an interceptor: `new Agent().compose(retry({ retry: 2 }))`. Everything that it is composed on shares
 * its budgets and circuits, one for each origin.
 *
 * The dispatcher's handler sees one response, from one controller, whatever happened before. What undici answers or throws
 * in the last attempt is what comes back; `attemptsOf` of the `context` of a response, or of the error, tells the rest.
 * CONNECT and upgrades pass through untouched. In `compose` the last interceptor is the outermost: composed before a
 * redirect interceptor it retries the hop that failed, composed after it the whole way.
 * @throws RangeError or TypeError for an option that cannot be, naming it
 */
export function retry(options: LayerOptions = {}): RetryInterceptor {
  const clock = createSystemClock();
  return retryAt(options, { clock, random: Math.random, transport: createDispatchTransport(clock) });
}

/** The same in a time of the caller's choice. */
export function retryAt(options: LayerOptions, host: LayerHost): RetryInterceptor {
  const layer = createLayer('retry', options, host);
  let homeCount = 0;
  return (dispatch: Dispatch) => {
    homeCount += 1;
    // A Client of an older version does not say where it leads.
    const home = `http://dispatcher-${homeCount}.invalid`;
    return (request: InterceptedOptions, handler: object): boolean => {
      const isUpgrade = request.method === 'CONNECT' || Boolean(request.upgrade);
      const receiver = readHandler(handler, isUpgrade);
      if (isUpgrade) return dispatch(request, handler);
      const call = new DispatchCall(new InterceptedRequest(request, dispatch, layer, home), receiver, layer);
      call.begin();
      return call.accepted;
    };
  };
}
