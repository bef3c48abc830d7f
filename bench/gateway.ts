// `npm run bench`: what a request costs in mulligan's gateway, beside nginx, HAProxy and the Node libraries.
// bench/README.md tells the method and how to read the tables.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judge, type Measurements } from './harness/goals.ts';
import { measureWorkload, type Slice } from './harness/measure.ts';
import { type BenchOptions, readOptions, usage } from './harness/options.ts';
import { enterPrivateNetwork, type Surroundings } from './harness/private-network.ts';
import { formatVerdicts, formatWorkload } from './harness/report.ts';
import { smokeCheck } from './harness/smoke.ts';
import { findMissingPrograms, installPeers, readVersions } from './harness/versions.ts';
import { largeBody, smallBody, type WorkloadName, workloads } from './harness/workload.ts';
import { createWorkspace } from './harness/workspace.ts';
import { startField } from './targets/field.ts';
import { buildGateway, findGatewayScript } from './targets/mulligan.ts';

// Debian keeps nginx and HAProxy where only root's PATH leads.
process.env['PATH'] = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;

/** Ends with code 2: the command line or the machine is at fault, nothing was measured. */
function refuse(reason: string): never {
  console.error(reason);
  process.exit(2);
}

function readOptionsOrExit(): BenchOptions {
  let options: BenchOptions | undefined;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    refuse(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
  if (options !== undefined) return options;
  console.log(usage);
  process.exit(0);
}

async function main(): Promise<void> {
  const options = readOptionsOrExit();
  const missing = findMissingPrograms(options.targetNames);
  if (missing.length > 0)
    refuse(`not installed: ${missing.join(', ')}; on Debian: apt-get install -y ${missing.join(' ')}`);
  installPeers(options.targetNames);
  if (!options.isSource && options.targetNames.some((name) => name.startsWith('mulligan'))) buildGateway();
  const surroundings = await enterPrivateNetwork(fileURLToPath(import.meta.url));

  const versions = readVersions();
  console.log(
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(' · '),
  );
  console.log(
    `${options.roundCount} rounds of ${options.sliceSeconds} s slices, order by seed ${options.seed}, ${describe(surroundings)}\n`,
  );

  const measurements = await measureAll(options, surroundings);
  const verdicts = judge(measurements);
  console.log(formatVerdicts(verdicts));
  const slices = Object.values(measurements).flat();
  if (slices.some(({ target, faultCount }) => target.startsWith('mulligan') && faultCount > 0)) {
    console.error('mulligan failed requests under load: whatever it cost, that is a fault');
    process.exitCode = 1;
  }
  if (options.jsonPath !== undefined) {
    writeFileSync(
      resolve(options.jsonPath),
      `${JSON.stringify({ versions, options, surroundings, verdicts, slices: measurements }, null, 2)}\n`,
    );
  }
}

async function measureAll(options: BenchOptions, surroundings: Surroundings): Promise<Measurements> {
  const workspace = createWorkspace();
  try {
    const field = await startField({
      workspace,
      names: options.targetNames,
      ...cores(surroundings),
      smallBody,
      largeBody,
      gatewayScript: findGatewayScript(options.isSource),
    });
    await smokeCheck(field);
    const measurements: Partial<Record<WorkloadName, Slice[]>> = {};
    for (const name of options.workloadNames) {
      const slices = await measureWorkload(workloads[name], {
        ...options,
        workspace,
        surroundings,
        field,
        onProgress: showProgress,
      });
      showProgress('');
      console.log(`${formatWorkload(workloads[name], slices)}\n`);
      measurements[name] = slices;
    }
    return measurements;
  } finally {
    await workspace.close();
  }
}

function cores({ proxyCore, loadCore }: Surroundings): Pick<Surroundings, 'proxyCore' | 'loadCore'> {
  return { proxyCore, loadCore };
}

function describe({ isPrivateNetwork, proxyCore, loadCore }: Surroundings): string {
  const network = isPrivateNetwork ? 'private network namespace' : 'plain loopback';
  return proxyCore === undefined
    ? `${network}, nothing pinned`
    : `${network}, proxy on core ${proxyCore}, load and origin on core ${loadCore}`;
}

/** One line on a terminal that each next one replaces; nothing where the output is kept. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

await main().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
