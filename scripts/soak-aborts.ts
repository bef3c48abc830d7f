/**
 * Gives up half of very many requests, each in whatever phase it is, and looks for what is left of them.
 *
 *   npm run soak:aborts -- --requests 100000 --seed 7
 *
 * They go through `fetch` and `undici.request` on our dispatcher, through the interceptor and through `wrapFetch`, to an
 * origin that answers late, fails, breaks off, goes on for ever and hangs. Prints what was sent, what is left and how the heap
 * grew from one tenth to the next. Exit code 1 when a listener, socket, timer, body or kept byte is left.
 */
import { parseArgs } from 'node:util';
import { runAbortStorm } from '../test/client/abort-storm.ts';
import { watchLeaks } from '../test/support/leak-check.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '7' } },
});
const requestCount = Number(values.requests);
const seed = Number(values.seed);
if (![requestCount, seed].every((value) => Number.isSafeInteger(value) && value >= 1)) {
  console.error('--requests and --seed are whole numbers from 1.');
  process.exit(2);
}

const PARTS = 10;
const leaks = watchLeaks();
let isClean = true;
for (let part = 0; part < PARTS; part += 1) {
  const share = Math.ceil(requestCount / PARTS);
  const result = await runAbortStorm(share, seed + part);
  isClean &&= Object.values(result.left).every((count) => count === 0);
  globalThis.gc?.();
  const heapMiB = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
  console.log(JSON.stringify({ requests: share, ...result, heapMiB }));
}
await leaks.verify();
console.log(isClean ? 'nothing is left' : 'something is left: see above');
process.exitCode = isClean ? 0 : 1;
