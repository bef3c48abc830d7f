// `npm run bench:memory`: does the gateway's memory stay flat while bodies pass that are larger than it?
// Retries are on, and the reader is slower than the writer: a gateway that keeps what it forwards, for a second send or
// for want of back-pressure, shows here. Client and origin are processes of their own.
import { setTimeout as sleep } from 'node:timers/promises';
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readProcessUsage } from './harness/process-usage.ts';
import { formatTable } from './harness/report.ts';
import { formatMebibytes, parseSize } from './harness/size.ts';
import { createWorkspace, type Service, type Workspace } from './harness/workspace.ts';
import { findFreePorts, prepareProgram } from './targets/field.ts';
import { buildGateway, findGatewayScript, prepareMulligan } from './targets/mulligan.ts';
import { type TargetName, targetNames } from './targets/target.ts';

const scenarios = ['upload-sized', 'upload-chunked', 'download-sized', 'download-chunked'] as const;
type Scenario = (typeof scenarios)[number];

/** The bar: a gateway of 64 KiB replay buffers has no reason to come near it. */
const peakLimitBytes = 150 * 2 ** 20;
const sampleMs = 100;
/** Longer than any start takes on a machine that is busy with other things. */
const startTimeoutMs = 60_000;
const scenarioTimeoutMs = 180_000;

const usage = `npm run bench:memory -- [options]
  --size SIZE     of each body, default 2GiB
  --source        run mulligan's TypeScript; else dist/ is built first and run, as a user would
  --target NAME   default mulligan; for comparison: ${targetNames.slice(1).join(', ')}`;

interface MemoryOptions {
  readonly byteCount: number;
  readonly target: TargetName;
  readonly isSource: boolean;
}

function readOptions(): MemoryOptions {
  try {
    const { values } = parseArgs({
      options: {
        size: { type: 'string', default: '2GiB' },
        target: { type: 'string', default: 'mulligan' },
        source: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    const target = targetNames.find((name) => name === values.target);
    if (target === undefined) throw new RangeError(`--target: there is no ${JSON.stringify(values.target)}`);
    return { byteCount: parseSize(values.size), target, isSource: values.source };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

interface Course {
  readonly scenario: Scenario;
  readonly beforeBytes: number;
  readonly peakBytes: number;
  readonly afterBytes: number;
  readonly megabytesPerSecond: number;
  /** Why the body did not arrive unharmed; undefined when it did. */
  readonly fault: string | undefined;
}

/** Moves one body through the gateway and samples its memory meanwhile. Rejects when the gateway ended. */
async function runScenario(
  scenario: Scenario,
  workspace: Workspace,
  gateway: Service,
  port: number,
  byteCount: number,
): Promise<Course> {
  const rss = (): number => readProcessUsage(gateway.pid).rssBytes;
  const beforeBytes = rss();
  let peakBytes = beforeBytes;
  const sampler = setInterval(() => (peakBytes = Math.max(peakBytes, rss())), sampleMs);
  const startedAt = performance.now();
  let fault: string | undefined;
  try {
    const client = fileURLToPath(new URL('./memory/body-client.ts', import.meta.url));
    await workspace.run(
      {
        name: scenario,
        core: undefined,
        file: process.execPath,
        arguments: [client, String(port), scenario, String(byteCount)],
      },
      scenarioTimeoutMs,
    );
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  } finally {
    clearInterval(sampler);
  }
  gateway.assertAlive();
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    scenario,
    beforeBytes,
    peakBytes: Math.max(peakBytes, rss()),
    afterBytes: rss(),
    megabytesPerSecond: byteCount / 1e6 / seconds,
    fault,
  };
}

async function waitUntilAnswering(name: string, service: Service, port: number): Promise<void> {
  const giveUpAt = performance.now() + startTimeoutMs;
  for (;;) {
    service.assertAlive();
    const isAnswering = await new Promise<boolean>((resolve) => {
      const request = get({ host: '127.0.0.1', port, path: '/ready', agent: false, timeout: 2_000 }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => resolve(false));
    });
    if (isAnswering) return;
    if (performance.now() > giveUpAt)
      throw new Error(`${name} did not answer on port ${port} within ${startTimeoutMs} ms`);
    await sleep(50);
  }
}

async function main(): Promise<void> {
  process.env['PATH'] = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
  const { byteCount, target, isSource } = readOptions();
  if (!isSource && target.startsWith('mulligan')) buildGateway();
  const workspace = createWorkspace();
  try {
    const [originPort = 0, port = 0] = await findFreePorts(2);
    const script = fileURLToPath(new URL('./memory/body-origin.ts', import.meta.url));
    const origin = workspace.start({
      name: 'origin',
      core: undefined,
      file: process.execPath,
      arguments: [script, String(originPort), String(byteCount)],
    });
    await waitUntilAnswering('origin', origin, originPort);

    const placement = { workspace, port, originPort, gatewayScript: findGatewayScript(isSource) };
    // The default replay buffer is what is under test; a deadline would end a body of this size on a slow machine.
    const program =
      target === 'mulligan'
        ? prepareMulligan(target, placement, { isLogging: false, timeouts: null })
        : prepareProgram(target, placement);
    const gateway = workspace.start({ name: target, core: undefined, ...program });
    await waitUntilAnswering(target, gateway, port);

    const courses: Course[] = [];
    for (const scenario of scenarios) courses.push(await runScenario(scenario, workspace, gateway, port, byteCount));
    report(target, byteCount, courses);
  } finally {
    await workspace.close();
  }
}

function report(target: TargetName, byteCount: number, courses: readonly Course[]): void {
  console.log(
    `${target}: RSS while ${formatMebibytes(byteCount)} pass, the reader slower than the writer, checksums compared`,
  );
  const rows = courses.map(({ scenario, beforeBytes, peakBytes, afterBytes, megabytesPerSecond, fault }) => [
    scenario,
    ...[beforeBytes, peakBytes, afterBytes].map(formatMebibytes),
    fault === undefined ? megabytesPerSecond.toFixed(0) : '–',
    fault !== undefined ? 'BODY HARMED' : peakBytes < peakLimitBytes ? 'pass' : 'FALLS SHORT',
  ]);
  console.log(
    formatTable(['scenario', 'before', 'peak', 'after', 'MB/s', `peak < ${formatMebibytes(peakLimitBytes)}`], rows),
  );
  for (const { fault } of courses) if (fault !== undefined) console.log(`  ${fault.trim()}`);
  if (courses.some(({ fault, peakBytes }) => fault !== undefined || peakBytes >= peakLimitBytes)) process.exitCode = 1;
}

await main().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
