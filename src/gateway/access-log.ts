import type { AccessRecord } from '../proxy/access-record.ts';
import { recordLine } from '../proxy/access-record.ts';
import type { LineSink, LineSinkOptions } from './line-sink.ts';
import { createLineSink } from './line-sink.ts';

/** One JSON line a request. Lines that the target cannot take are lost and counted; requests never wait for them. */
export interface AccessLog {
  write(record: AccessRecord): void;
  readonly lostCount: number;
  /** Ends with a line that says how many were lost, if any were. */
  close(): Promise<void>;
}

/** @throws the system's error when the file cannot be opened */
export function createAccessLog(path: string, onLost?: LineSinkOptions['onLost']): AccessLog {
  const sink: LineSink = createLineSink(path, { onLost });
  return {
    write: (record) => sink.write(recordLine(record)),
    get lostCount() {
      return sink.lostCount;
    },
    close() {
      if (sink.lostCount > 0) sink.write(`${JSON.stringify({ event: 'lines-lost', count: sink.lostCount })}\n`);
      return sink.close();
    },
  };
}
