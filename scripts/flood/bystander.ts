import { connect } from 'node:http2';

/** Another client, in a process of its own: one request every few milliseconds, and how long each took. */
const everyMs = 5;
const session = connect(`http://127.0.0.1:${process.argv[2]}`);
let latenciesMs: number[] = [];
let failedCount = 0;

session.on('error', () => {
  failedCount += 1;
});
setInterval(() => {
  if (session.destroyed) {
    failedCount += 1;
    return;
  }
  const startedAtMs = performance.now();
  const stream = session.request({ ':path': '/' });
  stream.on('error', () => {});
  stream.on('close', () => {
    if (stream.rstCode === 0) latenciesMs.push(performance.now() - startedAtMs);
    else failedCount += 1;
  });
  stream.resume();
}, everyMs);

process.on('message', () => {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  process.send?.({
    count: sorted.length,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    failedCount,
  });
  latenciesMs = [];
  failedCount = 0;
});
process.send?.({ ready: true });
