/**
 * `npm run test:node22`, `npm run test:node26`: the tests on another Node version than the repository's own.
 * The binaries are installed on demand and apart, for each of them brings a `node` command, and a plain install must
 * keep exactly one. They exist for Linux on x64 only. Exit codes: those of the test run; 2 when there is no such binary.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [version, ...paths] = process.argv.slice(2);
const folder = fileURLToPath(new URL('node-versions', import.meta.url));
const binary = `${folder}/node_modules/${version}/bin/node`;

if (version !== 'node22' && version !== 'node26') {
  console.error('Name the Node version to test on: node22 or node26.');
  process.exit(2);
}
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error(`${version} is installed from a package for linux x64; this is ${process.platform} ${process.arch}.`);
  process.exit(2);
}
if (!existsSync(binary)) {
  console.log(`Installing ${version} into scripts/node-versions …`);
  const install = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit'], { cwd: folder, stdio: 'inherit' });
  if (install.status !== 0) process.exit(2);
}
const run = spawnSync(binary, [fileURLToPath(new URL('test.ts', import.meta.url)), ...paths], { stdio: 'inherit' });
process.exitCode = run.status ?? 1;
