import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Where the run takes place. */
export interface Surroundings {
  /** False on the machine's own loopback, where other processes' traffic and ports are in the way. */
  readonly isPrivateNetwork: boolean;
  /** The core of the measured proxy; undefined where the machine has one core only. */
  readonly proxyCore: number | undefined;
  /** The core of everything else: load, origin and this process. */
  readonly loadCore: number | undefined;
}

/** Marks the process that runs inside; its value says how. */
const variable = 'MULLIGAN_BENCH_SURROUNDINGS';

/**
 * Runs this script once more inside a network namespace of its own, pinned to the load's core, and exits with its code.
 * Inside, returns the surroundings. Where the kernel grants no namespace, the run goes on with plain loopback.
 */
export async function enterPrivateNetwork(script: string): Promise<Surroundings> {
  const inherited = process.env[variable];
  if (inherited !== undefined) return JSON.parse(inherited) as Surroundings;

  const namespace = findNamespaceCommand();
  const hasTwoCores = availableParallelism() >= 2;
  if (namespace === undefined)
    console.error(
      'note: no private network namespace is permitted here (root has one): plain loopback, expect more noise',
    );
  if (!hasTwoCores) console.error('note: one core only: nothing is pinned, proxy and load take turns on it');

  const surroundings = {
    isPrivateNetwork: namespace !== undefined,
    ...(hasTwoCores && { proxyCore: 0, loadCore: 1 }),
  };
  const [file = '', ...rest] = [
    ...(namespace === undefined ? [] : [...namespace, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']),
    ...(hasTwoCores ? ['taskset', '-c', '1'] : []),
    ...['setpriv', '--pdeathsig', 'TERM', process.execPath, script, ...process.argv.slice(2)],
  ];
  const child = spawn(file, rest, {
    stdio: 'inherit',
    env: { ...process.env, [variable]: JSON.stringify(surroundings) },
  });
  // Ctrl-C reaches the child by itself; this process only has to outlive its cleaning up.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve(exitCode ?? 1));
  });
  process.exit(code);
}

/** Root makes a network namespace at once; others make a user namespace with it, where that is allowed. */
function findNamespaceCommand(): string[] | undefined {
  const candidates = [
    ['unshare', '--net'],
    ['unshare', '--map-current-user', '--net', '--keep-caps'],
  ];
  return candidates.find(
    ([file = '', ...rest]) =>
      spawnSync(file, [...rest, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0,
  );
}
