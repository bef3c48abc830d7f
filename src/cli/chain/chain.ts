import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { LinkPlan, LinkReading } from './link-plan.ts';
import { startLink, type LinkProcess, type LinkStart } from './link-process.ts';

/** Requests to be sent through services in a row, each of which calls the next. */
export interface ChainRun {
  /** The plan of the service at an index; where the next one listens is added. */
  readonly planOf: (index: number) => LinkPlan;
  readonly requestCount: number;
  /** Requests under way at the same time. Default 1: in this order alone is chance the same each time. */
  readonly concurrency?: number | undefined;
  /** Sent before in fair weather, and counted by nobody. Default 0. */
  readonly calmCount?: number | undefined;
  /** What the first service is told of how long its caller waits, in milliseconds. Default nothing. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ChainMeasurement {
  readonly requestCount: number;
  /** Requests to the first service that were not answered with 200. */
  readonly failedCount: number;
  /** By service. */
  readonly readings: readonly LinkReading[];
}

/**
 * Starts services; the first one alone, so that the others find its code compiled.
 * @throws Error when one of them does not start; none is left running then
 */
export async function startLinks(starts: readonly LinkStart[], signal?: AbortSignal): Promise<readonly LinkProcess[]> {
  const [first, ...others] = starts;
  if (first === undefined) return [];
  const started = [await startLink(first, signal)];
  const settled = await Promise.allSettled(others.map((start) => startLink(start, signal)));
  started.push(...settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed === undefined) return started;
  await stopLinks(started);
  throw failed.reason;
}

export async function stopLinks(links: readonly LinkProcess[]): Promise<void> {
  await Promise.all(links.map((link) => link.stop()));
}

/** Gives each service its plan, sends the requests to the first one, and reads what each counted when all is quiet again. */
export async function measureChain(links: readonly LinkProcess[], run: ChainRun): Promise<ChainMeasurement> {
  const { planOf, requestCount, calmCount = 0 } = run;
  const give = (fair: boolean): Promise<unknown> =>
    Promise.all(
      links.map((link, index) => {
        const calm = fair ? { errorShare: 0, lostShare: 0, hangs: false } : {};
        return link.plan({ ...planOf(index), ...calm, nextUrl: links[index + 1]?.url });
      }),
    );
  if (calmCount > 0) {
    await give(true);
    await sendAll(links[0]!.url, calmCount, run);
  }
  await give(false);
  const failedCount = await sendAll(links[0]!.url, requestCount, run);
  return { requestCount, failedCount, readings: await readWhenQuiet(links, run.signal) };
}

/** @returns how many were not answered with 200 */
async function sendAll(
  url: string,
  requestCount: number,
  { concurrency = 1, timeoutMs, signal }: ChainRun,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  let leftCount = requestCount;
  let failedCount = 0;
  const send = async (): Promise<void> => {
    while (leftCount > 0) {
      signal?.throwIfAborted();
      leftCount -= 1;
      if ((await statusFrom(url, agent, timeoutMs)) !== 200) failedCount += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, send));
  } finally {
    agent.destroy();
  }
  return failedCount;
}

/** Above the longest wait of any chain: bounds, not measures. */
const ANSWER_LIMIT_MS = 30_000;
const QUIET_LIMIT_MS = 10_000;
const LOOK_EVERY_MS = 20;

/** `node:http` sends nothing again on its own. */
function statusFrom(url: string, agent: Agent, timeoutMs: number | undefined): Promise<number> {
  const headers = timeoutMs === undefined ? {} : { 'Request-Timeout': String(timeoutMs) };
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers, timeout: ANSWER_LIMIT_MS }, (response) => {
      response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    request.on('timeout', () => request.destroy(new Error(`${url} gives no answer`)));
    request.on('error', reject);
  });
}

/** A service whose caller gave up works on, and calls others. */
async function readWhenQuiet(
  links: readonly LinkProcess[],
  signal: AbortSignal | undefined,
): Promise<readonly LinkReading[]> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const readings = await Promise.all(links.map((link) => link.read()));
    const busy = readings.findIndex(({ busyCount }) => busyCount > 0);
    if (busy === -1) return readings;
    if (waitedMs >= QUIET_LIMIT_MS) throw new Error(`the service ${links[busy]!.name} does not come to an end`);
    await delay(LOOK_EVERY_MS, undefined, signal === undefined ? {} : { signal });
  }
}
