import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { nodeLibraryNames } from '../targets/target.ts';

const benchDirectory = fileURLToPath(new URL('..', import.meta.url));
/** npm's names of the peers and of the framework one of them runs on. */
const packages = ['fast-proxy', '@fastify/reply-from', 'fastify', 'http-proxy-3'];

/** The programs without which a target or the load cannot run, each with the words that make it tell its version. */
const programs = { nginx: '-v', haproxy: '-v', wrk: '-v' } as const;

/** Everything on which the figures depend, by name. */
export function readVersions(): Record<string, string> {
  const versions: Record<string, string> = {
    mulligan: readCommit(),
    kernel: release(),
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    node: process.version,
  };
  for (const name of Object.keys(programs))
    versions[name] = readProgramVersion(name as keyof typeof programs) ?? 'not installed';
  for (const name of packages) versions[name] = readPackageVersion(name) ?? 'not installed';
  return versions;
}

/** The Debian packages that are missing for the named targets. */
export function findMissingPrograms(targetNames: readonly string[]): string[] {
  const needed = ['wrk', 'nginx', ...(targetNames.includes('haproxy') ? ['haproxy'] : [])] as (keyof typeof programs)[];
  return needed.filter((name) => readProgramVersion(name) === undefined);
}

/** Installs the peers from bench's own lock file when they are missing or older than it. Throws when npm fails. */
export function installPeers(targetNames: readonly string[]): void {
  if (!nodeLibraryNames.some((name) => targetNames.includes(name))) return;
  const { devDependencies } = JSON.parse(readFileSync(`${benchDirectory}package.json`, 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  if (packages.every((name) => readPackageVersion(name) === devDependencies[name])) return;
  console.error('installing the peers (npm ci --prefix bench) …');
  const { status, error } = spawnSync(
    'npm',
    ['ci', '--prefix', benchDirectory, '--ignore-scripts', '--no-audit', '--no-fund'],
    { stdio: ['ignore', 2, 2] },
  );
  if (status !== 0)
    throw new Error(
      `npm ci --prefix bench failed (${error?.message ?? `code ${status}`}); without a network, leave the Node peers out: --only mulligan,nginx,haproxy`,
    );
}

function readProgramVersion(name: keyof typeof programs): string | undefined {
  const { error, stdout, stderr } = spawnSync(name, [programs[name]], { encoding: 'utf8' });
  return error === undefined ? (/\d+\.\d+(\.\d+)?\S*/.exec(stdout + stderr)?.[0] ?? 'unknown') : undefined;
}

function readPackageVersion(name: string): string | undefined {
  try {
    return (
      JSON.parse(readFileSync(`${benchDirectory}node_modules/${name}/package.json`, 'utf8')) as { version: string }
    ).version;
  } catch {
    return undefined;
  }
}

function readCommit(): string {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], {
    cwd: benchDirectory,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : 'not a git checkout';
}
