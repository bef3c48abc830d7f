/** A process of its own for one service of the chain: `link-process` starts it. */
import { clientCaller } from './link-caller.ts';
import { Link } from './link.ts';
import { createPlainServer, runLink } from './link-server.ts';

const link = new Link(clientCaller);
await runLink(link, createPlainServer(link));
