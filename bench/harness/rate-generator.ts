// A process of its own that sends a fixed number of requests a second, whatever the answers do, and prints one
// LoadResult. A generator that waits for answers slows down with a slow proxy and so never sees its worst moments.
import { connect, type Socket } from 'node:net';
import { quantile } from './quantile.ts';

interface Plan {
  readonly port: number;
  readonly path: string;
  readonly connectionCount: number;
  readonly ratePerSecond: number;
  readonly seconds: number;
  readonly fields: Readonly<Record<string, string>>;
}

/** Sent before anything is counted: the generator's own code is slow until it is compiled. */
const warmUpMs = 300;

const plan = JSON.parse(process.argv[2] ?? '') as Plan;
const fieldLines = Object.entries(plan.fields).map(([name, value]) => `${name}: ${value}\r\n`);
const request = Buffer.from(
  `GET ${plan.path} HTTP/1.1\r\nHost: 127.0.0.1:${plan.port}\r\n${fieldLines.join('')}\r\n`,
  'latin1',
);

const busy = new Set<Connection>();
const idle: Connection[] = [];
/** When the requests became due that found every connection busy, oldest first: their waiting counts too. */
const waiting: number[] = [];
const latenciesMicros: number[] = [];
let answerCount = 0;
let faultCount = 0;
let openCount = 0;
let countFrom = Number.POSITIVE_INFINITY;

interface Connection {
  readonly socket: Socket;
  dueAt: number;
  received: string;
}

function open(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(plan.port, '127.0.0.1', resolve).setNoDelay();
    const connection: Connection = { socket, dueAt: 0, received: '' };
    idle.push(connection);
    openCount++;
    socket.setEncoding('latin1').on('data', (text: unknown) => receive(connection, String(text)));
    socket.on('error', () => {});
    socket.on('close', () => {
      faultCount++;
      openCount--;
      busy.delete(connection);
      const position = idle.indexOf(connection);
      if (position >= 0) idle.splice(position, 1);
      resolve();
    });
  });
}

function send(dueAt: number): void {
  const connection = idle.pop();
  if (connection === undefined) {
    waiting.push(dueAt);
    return;
  }
  busy.add(connection);
  connection.dueAt = dueAt;
  connection.socket.write(request);
}

function receive(connection: Connection, text: string): void {
  connection.received += text;
  const headEnd = connection.received.indexOf('\r\n\r\n');
  if (headEnd < 0) return;
  const length = /^content-length: *(\d+)/im.exec(connection.received.slice(0, headEnd))?.[1];
  if (length === undefined) {
    // The origin's answers have a length; a proxy that drops it is not what this generator was made for.
    connection.socket.destroy();
    return;
  }
  if (connection.received.length < headEnd + 4 + Number(length)) return;
  if (!/^HTTP\/1\.1 [23]/.test(connection.received)) faultCount++;
  answerCount++;
  if (connection.dueAt >= countFrom) latenciesMicros.push((performance.now() - connection.dueAt) * 1_000);
  connection.received = '';
  busy.delete(connection);
  idle.push(connection);
  const next = waiting.shift();
  if (next !== undefined) send(next);
}

await Promise.all(Array.from({ length: plan.connectionCount }, open));
const startedAt = performance.now();
countFrom = startedAt + warmUpMs;
const endsAt = countFrom + plan.seconds * 1_000;
let sentCount = 0;

const clock = setInterval(() => {
  const now = performance.now();
  if (now >= endsAt || openCount === 0) {
    clearInterval(clock);
    // The last answers are on their way.
    setTimeout(report, 200);
    return;
  }
  // A tick that comes late sends what it missed at once, timed from now: this process's lateness is not the proxy's.
  const dueCount = Math.floor(((now - startedAt) / 1_000) * plan.ratePerSecond);
  for (; sentCount < dueCount; sentCount++) send(now);
}, 1);

function report(): void {
  const answeredInTimeCount = latenciesMicros.length;
  // What has no answer yet took at least as long as it is old; leaving it out would make the slowest look fast.
  const now = performance.now();
  for (const dueAt of [...waiting, ...[...busy].map((connection) => connection.dueAt)])
    if (dueAt >= countFrom) latenciesMicros.push((now - dueAt) * 1_000);
  const result = {
    requestCount: answerCount,
    requestsPerSecond: Math.round(answeredInTimeCount / plan.seconds),
    p50Micros: Math.round(quantile(latenciesMicros, 0.5)),
    p99Micros: Math.round(quantile(latenciesMicros, 0.99)),
    faultCount,
    unansweredCount: sentCount - answerCount,
  };
  process.stdout.write(`\n${JSON.stringify(result)}\n`, () => process.exit(0));
}
