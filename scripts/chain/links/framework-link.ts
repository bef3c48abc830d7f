/**
 * A service of the chain on a framework, in a process of its own. LINK_FRAMEWORK says on which one, LINK_ADAPTER whether the
 * service takes part by that framework's middleware in place of `mulligan/register`, LINK_CALLER how it calls, and LINK_CLOCK
 * that each request is a second for what it learns, LINK_NEEDS that it cannot do without anything that it calls.
 */
import type { Server } from 'node:http';
import { clientCaller } from '../../../src/cli/chain/link-caller.ts';
import { Link } from '../../../src/cli/chain/link.ts';
import { runLink } from '../../../src/cli/chain/link-server.ts';
import { installService } from '../../../src/service/install.ts';
import { FRAMEWORKS } from './frameworks.ts';
import { interceptorCaller, layerCaller } from './other-callers.ts';

const { LINK_FRAMEWORK = 'node', LINK_ADAPTER, LINK_CALLER = 'client', LINK_CLOCK, LINK_NEEDS } = process.env;
const caller = { client: clientCaller, interceptor: interceptorCaller, layer: layerCaller }[LINK_CALLER];
const makeServer = FRAMEWORKS[LINK_FRAMEWORK];
if (caller === undefined || makeServer === undefined)
  throw new RangeError(`no such service: ${LINK_FRAMEWORK}, ${LINK_CALLER}`);

const link = new Link(caller);
const adapted = LINK_ADAPTER === 'yes';
if (adapted) {
  const nowMs = (): number => performance.now() + (LINK_CLOCK === 'yes' ? link.servedCount * 1000 : 0);
  const edges = LINK_NEEDS === 'all' ? [{ to: '*', class: 'fail-closed' } as const] : [];
  installService({ trust: ['127.0.0.0/8'], edges }, { servers: false, host: { nowMs } });
}
const server: Server = await makeServer(link, adapted);
await runLink(link, server);
