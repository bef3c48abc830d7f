import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { AccessRecord } from '../../proxy/access-record.ts';

/** Follows the gateway's access log, as anybody could. */
export interface RecordReader {
  /**
   * The record of a request, as soon as it is written.
   * @throws Error when it does not come in time, or the signal aborts
   */
  find(method: string, path: string): Promise<AccessRecord>;
  close(): Promise<void>;
}

const pollMs = 2;
/** The record follows the answer within a turn of the event loop; this allows for a machine that is very busy. */
const patienceMs = 5000;

export async function openRecords(file: string, signal: AbortSignal): Promise<RecordReader> {
  const log: FileHandle = await open(file);
  const buffer = Buffer.alloc(64 * 1024);
  const unread: AccessRecord[] = [];
  let rest = '';
  /** @returns whether there was anything */
  const readMore = async (): Promise<boolean> => {
    const { bytesRead } = await log.read(buffer);
    const lines = (rest + buffer.toString('utf8', 0, bytesRead)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) unread.push(JSON.parse(line) as AccessRecord);
    return bytesRead > 0;
  };
  return {
    async find(method, path) {
      const untilMs = performance.now() + patienceMs;
      for (;;) {
        const index = unread.findIndex((record) => record.method === method && record.path === path);
        if (index !== -1) return unread.splice(index, 1)[0]!;
        if (performance.now() > untilMs) throw new Error(`${file} has no record of ${method} ${path}`);
        if (!(await readMore())) await delay(pollMs, undefined, { signal });
      }
    },
    close: () => log.close(),
  };
}
