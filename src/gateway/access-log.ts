import { devNull } from 'node:os';
import type { AccessRecord } from '../proxy/access-record.ts';
import { recordLine } from '../proxy/access-record.ts';
import type { Diagnostics } from '../proxy/proxy-state.ts';
import type { LineSink, LineSinkOptions } from './line-sink.ts';
import { createLineSink } from './line-sink.ts';

/** One JSON line a request. Lines that the target cannot take are lost and counted; requests never wait for them. */
export interface AccessLog {
  write(record: AccessRecord): void;
  readonly lostCount: number;
  /** Opens the file anew after somebody moved it away. Tells when it cannot; the lines go on to the old one then. */
  reopen(): void;
  /** Ends with a line that says how many were lost, if any were. */
  close(): Promise<void>;
}

/** The path that stands for no log at all. */
export const LOG_OFF = 'off';

/**
 * Says with `diagnostics` how many lines are lost so far, when there are some.
 * @param path A file, `-` for standard output, `off` for a log that takes nothing.
 * @throws Error that names the file and says what to do when it cannot be opened
 */
export function openAccessLog(path: string, diagnostics?: Diagnostics): AccessLog {
  const sink = openSink(path === LOG_OFF ? devNull : path, (reason, lostCount) => {
    const lines = lostCount === 1 ? 'line' : 'lines';
    diagnostics?.('error', `access log ${path}: ${lostCount} ${lines} lost so far: ${reason}`);
  });
  return {
    write: path === LOG_OFF ? () => {} : (record) => sink.write(recordLine(record)),
    get lostCount() {
      return sink.lostCount;
    },
    reopen() {
      try {
        sink.reopen();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        diagnostics?.(
          'error',
          `access log ${path}: cannot be opened anew: ${why}; its lines go on to the file that was open`,
        );
      }
    },
    close() {
      if (sink.lostCount > 0) sink.write(`${JSON.stringify({ event: 'lines-lost', count: sink.lostCount })}\n`);
      return sink.close();
    },
  };
}

function openSink(path: string, onLost: LineSinkOptions['onLost']): LineSink {
  try {
    return createLineSink(path, { onLost });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `cannot open the access log ${path}: ${why}; create its directory, or give accessLog.path another place`,
      { cause: error },
    );
  }
}
