/**
 * Reloads a gateway under load: a process of its own, real sockets, the file replaced as an editor does it.
 *
 *   npm run soak:reload -- --reloads 50 --rate 2000
 *
 * Configuration n writes n into the path and has the one of two origins that n % 2 names; each also changes the limits
 * of the listener and, in turn, the connections or only the balancing of the upstream. An origin answers every 50th
 * request with 503, which is retried. A request is failed when it is not answered with 200, and mixed when it reached an
 * origin with a path of the other's configuration. Exit code 1 when there is one, or when the rate was not reached.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startCheapOrigin } from './soak/cheap-origin.ts';
import { startSteadyLoad } from './soak/steady-load.ts';

const { values } = parseArgs({
  options: {
    reloads: { type: 'string', default: '50' },
    rate: { type: 'string', default: '2000' },
    'every-ms': { type: 'string', default: '1000' },
  },
});
const reloadCount = Number(values.reloads);
const rate = Number(values.rate);
const everyMs = Number(values['every-ms']);
if (![reloadCount, rate, everyMs].every((value) => Number.isSafeInteger(value) && value >= 1)) {
  console.error('--reloads, --rate (requests a second) and --every-ms (between reloads) are whole numbers from 1.');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'mulligan-soak-'));
const file = join(folder, 'mulligan.yaml');
const origins = await Promise.all([startCheapOrigin(0), startCheapOrigin(1)]);
writeFileSync(file, configuration(0));

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const gateway = spawn(process.execPath, [main, 'serve', '-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
let said = '';
let reloadsSeen = 0;
gateway.stderr.setEncoding('utf8').on('data', (text: string) => {
  reloadsSeen += text.split('reloaded:').length - 1;
  said = (said + text).slice(-20_000);
});
const ended = new Promise<number | null>((resolve) => {
  gateway.once('exit', resolve);
});
const port = await new Promise<number>((resolve, reject) => {
  gateway.once('exit', () => reject(new Error(`the gateway did not start:\n${said}`)));
  gateway.stdout.setEncoding('utf8').once('data', (text: string) => {
    const { address } = JSON.parse(text.split('\n')[0]!) as { address: string };
    resolve(Number(address.split(':')[1]));
  });
});

const problems: string[] = [];
const startedAtMs = performance.now();
const load = startSteadyLoad(port, rate, 64);
let slowestMs = 0;
for (let n = 1; n <= reloadCount; n += 1) {
  await pause(everyMs);
  const seen = reloadsSeen;
  const beganAtMs = performance.now();
  writeFileSync(`${file}.new`, configuration(n));
  renameSync(`${file}.new`, file);
  while (reloadsSeen === seen && performance.now() - beganAtMs < 20_000) await pause(5);
  if (reloadsSeen === seen) problems.push(`reload ${n} did not happen`);
  slowestMs = Math.max(slowestMs, performance.now() - beganAtMs);
}
await pause(everyMs);
const reachedRate = load.sentCount / ((performance.now() - startedAtMs) / 1000);
if (reachedRate < 0.95 * rate) problems.push(`only ${Math.round(reachedRate)} requests a second were reached`);
await load.stop(10_000);
gateway.kill('SIGTERM');
const code = await ended;
if (code !== 0) problems.push(`the gateway ended with ${String(code)}`);
await Promise.all(origins.map((origin) => origin.close()));
rmSync(folder, { recursive: true });

const failedCount = [...load.failures.values()].reduce((sum, count) => sum + count, 0);
const latencies = load.latencies.toSorted((a, b) => a - b);
const quantile = (share: number): string => (latencies[Math.floor(share * (latencies.length - 1))] ?? 0).toFixed(1);
console.log(
  `${reloadCount} reloads, ${load.sentCount} requests at ${Math.round(reachedRate)} a second: ${failedCount} failed, ${load.mixedCount} mixed; ` +
    `p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms; from file to effect ${Math.round(slowestMs)} ms at most`,
);
for (const [what, count] of load.failures) console.log(`${count} × ${what}`);
for (const problem of problems) console.log(problem);
if (failedCount + load.mixedCount + problems.length > 0) {
  console.log(said.slice(-2000));
  process.exitCode = 1;
}

function configuration(n: number): string {
  return JSON.stringify({
    listeners: [{ address: '127.0.0.1:0', limits: { maxConnections: 5000 + n } }],
    upstreams: {
      main: {
        endpoints: [`127.0.0.1:${origins[n % 2]!.port}`],
        loadBalancing: n % 3 === 0 ? 'round-robin' : 'least-request',
        connect: { maxConnections: 200 + Math.floor(n / 4) },
        retryBudget: { kind: 'none' },
        healthCheck: { path: `/${n}/health`, interval: '500ms', timeout: '500ms' },
      },
    },
    routes: [
      {
        upstream: 'main',
        match: { path: { prefix: '/' } },
        rewrite: { prefix: `/${n}` },
        retry: { codes: [503], attempts: 5, backoff: '5ms' },
      },
    ],
    accessLog: { path: join(folder, 'access.log') },
  });
}
