/**
 * `npm run build [-- PROJECT …]`: compiles into `dist` (all projects, tests included for their types, when none is
 * named) and removes from `dist` what no source stands behind any more: TypeScript leaves it, and it would be published.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = `${root}/node_modules/typescript/bin/tsc`;

for (const output of globSync('**/*.{js,d.ts,js.map,d.ts.map}', { cwd: `${root}/dist` })) {
  const source = `${root}/src/${output.replace(/\.(?:js|d\.ts)(?:\.map)?$/, '.ts')}`;
  if (!existsSync(source)) rmSync(`${root}/dist/${output}`);
}
const run = spawnSync(process.execPath, [tsc, '-b', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
process.exitCode = run.status ?? 1;
