// Routing by a header field: one upstream for each tenant, several addresses in one of them; who names no tenant that
// exists is answered here. For routes in a file there is the gateway.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProxy, fieldValue } from 'mulligan/proxy';

const startOrigin = async (name: string): Promise<string> => {
  const server = createServer((_request, response) => response.end(name));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  server.unref();
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const tenants = new Map<string, string | string[]>([
  ['blue', await startOrigin('blue')],
  ['green', [await startOrigin('green'), await startOrigin('green')]],
]);

interface Route {
  readonly to: string | string[] | undefined;
}

const proxy = createProxy<Route>({
  createContext: ({ fields }) => ({ to: tenants.get(fieldValue(fields, 'x-tenant') ?? '') }),
  requestFilter({ context, request }) {
    if (context.to === undefined) return { status: 404, body: `no tenant for ${request.path}`, flag: 'NR' };
    return undefined;
  },
  selectUpstream: ({ context }) => context.to,
});
const { address } = await proxy.listen('127.0.0.1:0');

for (const tenant of ['blue', 'green', 'red']) {
  const answer = await fetch(`http://127.0.0.1:${address.port}/cart`, { headers: { 'X-Tenant': tenant } });
  console.log(tenant, answer.status, await answer.text());
}

await proxy.close();

// Prints:
// blue 200 blue
// green 200 green
// red 404 no tenant for /cart
