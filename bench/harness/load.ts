import { fileURLToPath } from 'node:url';
import { requestFields, type Workload } from './workload.ts';
import type { Workspace } from './workspace.ts';

/** What a load generator saw in one slice. */
export interface LoadResult {
  /** Answers received. */
  readonly requestCount: number;
  readonly requestsPerSecond: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** Answers with a status other than 2xx or 3xx, failed connects, broken and timed-out exchanges. */
  readonly faultCount: number;
  /** Requests of a fixed rate that had no answer when the slice ended: the target cannot hold the rate. */
  readonly unansweredCount: number;
}

export interface LoadOptions {
  readonly workspace: Workspace;
  readonly core: number | undefined;
  readonly port: number;
  readonly workload: Workload;
  /** Length of the slice in whole seconds: wrk takes no others. */
  readonly seconds: number;
}

const wrkReport = fileURLToPath(new URL('./wrk-report.lua', import.meta.url));
const rateGenerator = fileURLToPath(new URL('./rate-generator.ts', import.meta.url));

/** Runs one slice of load: wrk, or the fixed-rate generator, for wrk cannot hold a rate. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { workspace, core, port, workload, seconds } = options;
  const command =
    workload.ratePerSecond === undefined
      ? { name: 'wrk', core, file: 'wrk', arguments: wrkArguments(port, workload, seconds) }
      : {
          name: 'rate-generator',
          core,
          file: process.execPath,
          arguments: [rateGenerator, JSON.stringify({ ...workload, port, seconds, fields: requestFields })],
        };
  const output = await workspace.run(command, (seconds + 20) * 1_000);
  return JSON.parse(output.slice(output.lastIndexOf('\n{') + 1)) as LoadResult;
}

function wrkArguments(port: number, workload: Workload, seconds: number): string[] {
  return [
    ...[
      '--threads',
      '1',
      '--connections',
      String(workload.connectionCount),
      '--duration',
      `${seconds}s`,
      '--timeout',
      '5s',
    ],
    ...['--latency', '--script', wrkReport],
    ...Object.entries(requestFields).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    `http://127.0.0.1:${port}${workload.path}`,
  ];
}
