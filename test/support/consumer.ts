import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** What a command said. */
export interface CommandResult {
  /** Exit code; `null` when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project apart from this repository that has the packed package installed, with its declared dependencies alone. */
export interface Consumer {
  readonly folder: string;
  /** The installed package. */
  readonly packageFolder: string;
  /** Writes a file of the project and returns its path. */
  write(name: string, text: string): string;
  /** Runs this Node in the project. */
  node(...args: readonly string[]): CommandResult;
  /** Links one more package of the repository into the project, as if the consumer had installed it. */
  link(packageName: string): void;
  remove(): void;
}

/**
 * Packs the package as npm would publish it and lays it into a new project. It builds `dist` when that is not current.
 * Needs no network: the dependencies are links to the repository's own.
 */
export function createConsumer(): Consumer {
  const repository = resolve('.');
  execFileSync(process.execPath, ['scripts/build.ts', 'src/cli'], { stdio: 'pipe' });
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-consumer-'));
  const packageFolder = join(folder, 'node_modules', 'mulligan');
  mkdirSync(packageFolder, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const filename = /"filename":\s*"([^"]+)"/.exec(packed)?.[1];
  if (filename === undefined) throw new Error(`npm pack named no file: ${packed}`);
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', packageFolder]);

  const link = (packageName: string): void => {
    const path = join(folder, 'node_modules', packageName);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(repository, 'node_modules', packageName), path);
  };
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(manifest.dependencies ?? {})) link(name);
  writeFileSync(join(folder, 'package.json'), '{"name":"consumer","private":true,"type":"module"}\n');

  return {
    folder,
    packageFolder,
    link,
    write(name, text) {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    node(...args) {
      const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 60_000 });
      return { code: run.status, stdout: run.stdout, stderr: run.stderr };
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
