import { createServer } from 'node:net';
import type { Service, Workspace } from '../harness/workspace.ts';
import { prepareHaproxy } from './haproxy.ts';
import { prepareMulligan } from './mulligan.ts';
import { prepareNginx, prepareOrigin } from './nginx.ts';
import { prepareNodePeer } from './node-peer.ts';
import type { Placement, Program, TargetName } from './target.ts';

/** A proxy that is up. */
export interface Target {
  readonly name: TargetName;
  readonly port: number;
  readonly service: Service;
}

/** All proxies of a run and the origin that they share. */
export interface Field {
  readonly origin: Service;
  readonly originPort: number;
  readonly targets: readonly Target[];
}

export interface FieldOptions {
  readonly workspace: Workspace;
  readonly names: readonly TargetName[];
  readonly proxyCore: number | undefined;
  readonly loadCore: number | undefined;
  readonly smallBody: string;
  readonly largeBody: Uint8Array;
  /** The script that runs mulligan. */
  readonly gatewayScript: string;
}

/** Starts the origin and the named proxies; they may not be listening yet, which the smoke check waits for. */
export async function startField(options: FieldOptions): Promise<Field> {
  const { workspace, names, proxyCore, loadCore, gatewayScript } = options;
  const [originPort = 0, ...ports] = await findFreePorts(1 + names.length);
  const origin = workspace.start({
    name: 'origin',
    core: loadCore,
    ...prepareOrigin(workspace, originPort, options.smallBody, options.largeBody),
  });
  const targets = names.map((name, index) => {
    const port = ports[index] ?? 0;
    const program = prepareProgram(name, { workspace, port, originPort, gatewayScript });
    return { name, port, service: workspace.start({ name, core: proxyCore, ...program }) };
  });
  return { origin, originPort, targets };
}

/** Writes the configuration of the named proxy and tells how it is run. */
export function prepareProgram(name: TargetName, placement: Placement): Program {
  switch (name) {
    case 'mulligan':
      return prepareMulligan(name, placement, { isLogging: false });
    case 'mulligan-log':
      return prepareMulligan(name, placement, { isLogging: true });
    case 'mulligan-seen':
      return prepareMulligan(name, placement, { isLogging: true, isMetered: true });
    case 'nginx':
      return prepareNginx(placement);
    case 'haproxy':
      return prepareHaproxy(placement);
    case 'fast-proxy':
    case 'reply-from':
    case 'http-proxy-3':
      return prepareNodePeer(name, placement);
  }
}

/**
 * Ports that nobody listens on. All are held until all are found, or the kernel would give the same one twice; they are
 * configured before the proxies start because nginx and HAProxy cannot report a port they chose themselves.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
