import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Requests at a steady rate over kept-alive connections, one at a time on each. */
export interface SteadyLoad {
  readonly sentCount: number;
  /** What went wrong, and how often. */
  readonly failures: ReadonlyMap<string, number>;
  readonly mixedCount: number;
  /** Milliseconds of each answer. */
  readonly latencies: readonly number[];
  /** Sends no more; resolves when every request is answered or failed, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

interface Line {
  socket: Socket | undefined;
  text: string;
  /** 0: no request under way. */
  sentAtMs: number;
}

const request = 'GET /x HTTP/1.1\r\nHost: soak\r\n\r\n';

/** A client that keeps its due count: what could not be sent in time is sent as soon as a connection is free. */
export function startSteadyLoad(port: number, rate: number, connectionCount: number): SteadyLoad {
  const failures = new Map<string, number>();
  const latencies: number[] = [];
  const lines: Line[] = Array.from({ length: connectionCount }, () => ({ socket: undefined, text: '', sentAtMs: 0 }));
  let sentCount = 0;
  let mixedCount = 0;
  const fail = (what: string): void => void failures.set(what, (failures.get(what) ?? 0) + 1);

  const lost = (line: Line, why: string): void => {
    line.socket = undefined;
    line.text = '';
    if (line.sentAtMs === 0) return;
    line.sentAtMs = 0;
    fail(why);
  };

  const open = (line: Line): Socket => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    line.socket = socket;
    const mine = (why: string): void => {
      if (line.socket === socket) lost(line, why);
    };
    socket.setEncoding('latin1').on('data', (chunk: string) => received(line, chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => mine(error.code ?? error.message));
    socket.on('close', () => mine('closed without an answer'));
    return socket;
  };

  const received = (line: Line, chunk: string): void => {
    line.text += chunk;
    const headEnd = line.text.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const head = line.text.slice(0, headEnd).toLowerCase();
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (line.text.length < headEnd + 4 + length) return;
    if (!head.startsWith('http/1.1 200')) fail(head.slice(0, head.indexOf('\r\n')));
    if (line.text.slice(headEnd + 4, headEnd + 4 + length) === 'mixed') mixedCount += 1;
    latencies.push(performance.now() - line.sentAtMs);
    line.text = '';
    line.sentAtMs = 0;
    if (!head.includes('\r\nconnection: close')) return;
    line.socket?.destroy();
    line.socket = undefined;
  };

  const startedAtMs = performance.now();
  const pace = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAtMs) / 1000) * rate);
    for (const line of lines) {
      if (sentCount >= due) return;
      if (line.sentAtMs !== 0) continue;
      sentCount += 1;
      line.sentAtMs = performance.now();
      (line.socket ?? open(line)).write(request);
    }
  }, 1);

  return {
    failures,
    latencies,
    get sentCount() {
      return sentCount;
    },
    get mixedCount() {
      return mixedCount;
    },
    async stop(graceMs) {
      clearInterval(pace);
      const untilMs = performance.now() + graceMs;
      while (lines.some(({ sentAtMs }) => sentAtMs !== 0) && performance.now() < untilMs)
        await new Promise((resolve) => {
          setTimeout(resolve, 10);
        });
      for (const line of lines) {
        if (line.sentAtMs !== 0) fail('never answered');
        line.sentAtMs = 0;
        line.socket?.destroy();
      }
    },
  };
}
