/**
 * `npm run test:types`: the packed package, as a strict TypeScript project of each supported version compiles it. The compilers
 * are installed on demand and apart, for each of them brings a `tsc` command, and a plain install must keep exactly one.
 * Exit codes: 0; 1 when a version refuses something; 2 when the compilers cannot be installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConsumer } from '../test/support/consumer.ts';
import { publicEntries } from './entries.ts';
import { totalsLine } from './test-run.ts';

const folder = fileURLToPath(new URL('typescript-versions', import.meta.url));
const { devDependencies } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};
const versions = Object.keys(devDependencies);
if (!versions.every((name) => existsSync(`${folder}/node_modules/${name}`))) {
  console.log('Installing the compilers into scripts/typescript-versions …');
  const install = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit'], { cwd: folder, stdio: 'inherit' });
  if (install.status !== 0) process.exit(2);
}

/** What users write: each way of the client, with the types that it gives back, and each other entry by its names. */
const PROGRAM = `
import { attemptsOf, createBudget, createDispatcher, createPolicy, fetch, isRequestFailedError, retry, wrapFetch } from 'mulligan';
import type { ClientOptions, RequestEnd, RequestReport } from 'mulligan';
import { wrapFetch as wrapAnywhere } from 'mulligan/fetch';
import { Agent, request, setGlobalDispatcher } from 'undici';

const options: ClientOptions = {
  retry: { maxRetries: 2, codes: [502, 503], on: ['unsent', 'stale'], classify: ({ status }) => (status === 404 ? 'retryable' : undefined) },
  timeout: { requestMs: 10_000, attemptMs: 2_000 },
  budget: createBudget({ kind: 'ratio', percent: 20 }),
  onRequestEnd: ({ method, status, report }: RequestEnd) => console.log(method, status, report.reason),
};
const dispatcher = createDispatcher(options);
setGlobalDispatcher(dispatcher);
setGlobalDispatcher(new Agent().compose(retry({ retry: 2 })));

export async function use(url: string): Promise<number> {
  try {
    const response = await fetch(url, { dispatcher, retry: 1, timeout: 500, endpoints: ['http://127.0.0.1:1'] });
    const report: RequestReport | undefined = attemptsOf(response);
    const { statusCode, context } = await request(url, { dispatcher });
    const layered = await wrapFetch(globalThis.fetch, { retry: false })(url);
    const anywhere: Response = await wrapAnywhere(globalThis.fetch)(url);
    const done: string = await createPolicy({ name: 'db', retry: 2 }).execute(async ({ attempt }) => String(attempt));
    // @ts-expect-error No option has this name.
    createDispatcher({ retries: 3 });
    return statusCode + layered.status + anywhere.status + done.length + (report?.retryCount ?? 0) + Object.keys(context ?? {}).length;
  } catch (error) {
    if (isRequestFailedError(error)) return error.attempts.length;
    throw error;
  }
}
`;

const consumer = createConsumer();
let failedCount = 0;
try {
  for (const name of ['@types/node', 'undici-types']) consumer.link(name);
  const entries = publicEntries().map(({ specifier }, index) => `import * as entry${index} from '${specifier}';`);
  const uses = entries.map((_, index) => `entry${index}`).join(', ');
  const file = consumer.write(
    'program.ts',
    `${entries.join('\n')}\n${PROGRAM}\nexport const all: unknown[] = [${uses}];\n`,
  );
  const flags = '--noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext --types node'.split(
    ' ',
  );
  for (const version of versions) {
    const compiler = `${folder}/node_modules/${version}/bin/tsc`;
    const run = spawnSync(process.execPath, [compiler, ...flags, file], { cwd: consumer.folder, encoding: 'utf8' });
    console.log(`${run.status === 0 ? '✔' : '✖'} ${version}`);
    if (run.status === 0) continue;
    failedCount += 1;
    console.log(`${run.stdout}${run.stderr}`.trimEnd());
  }
} finally {
  consumer.remove();
}
process.exitCode = failedCount === 0 ? 0 : 1;
console.log(totalsLine({ passedCount: versions.length - failedCount, failedCount, skippedCount: 0 }));
