/** One way in a process of its own: `node worker.ts NAME ORIGIN`. For each number it gets, it sends as many requests. */
import { IN_FLIGHT, ways } from './ways.ts';
import type { WayName } from './ways.ts';

/** What a slice came to. */
export interface Slice {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

const [, , name, origin = ''] = process.argv;
const { create, inFlight = IN_FLIGHT, sendsEach = 1 } = ways[name as WayName];
const send = await create(origin);

async function measure(requestCount: number): Promise<Slice> {
  let left = requestCount;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await send();
    }
  };
  const cpu = process.cpuUsage();
  const startedAtMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, work));
  const { user, system } = process.cpuUsage(cpu);
  const sendCount = requestCount * sendsEach;
  return { cpuMicros: (user + system) / sendCount, perSecond: (sendCount * 1000) / (performance.now() - startedAtMs) };
}

process.on('message', (requestCount: number) => void measure(requestCount).then((slice) => process.send?.(slice)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
