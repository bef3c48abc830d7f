import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/**
 * The cases in `test/varnish` in which the order of events decides: `varnishtest` plays clients and origins byte by byte,
 * with barriers between them, and the gateway is a process of its own.
 */
const folder = fileURLToPath(new URL('varnish', import.meta.url));
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const seconds = 30;
/** Each case starts the command anew: what one has compiled serves the next. */
const compileCache = mkdtempSync(join(tmpdir(), 'mulligan-varnish-'));
after(() => rmSync(compileCache, { recursive: true, force: true }));
const skip = isInstalled('varnishtest') ? false : 'varnishtest is not here; Debian has it in the package varnish';

suite('order-critical cases', { concurrency: 2 }, () => {
  for (const [index, file] of globSync('*.vtc', { cwd: folder }).toSorted().entries()) {
    const [, title = file] = /^varnishtest "(.*)"/.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
    test(`${title} (${file})`, { skip }, () => play(file, index));
  }
});

/** @throws Error with what everybody said, when the case did not go as it is written */
async function play(file: string, index: number): Promise<void> {
  const macros = {
    mulligan: `${process.execPath} ${main}`,
    proxy_addr: ownAddress(),
    proxy_port: String(20_000 + index),
  };
  const defines = Object.entries(macros).flatMap(([name, value]) => ['-D', `${name}=${value}`]);
  const child = spawn('varnishtest', ['-v', '-t', String(seconds), ...defines, file], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0) throw new Error(`${file} ended with ${code ?? signal}\n${said.join('').slice(-20_000)}`);
}

/** The gateway has to know its address before it starts: one in 127.0.0.0/8 that no other run of these tests takes. */
function ownAddress(): string {
  return `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((path) => {
    try {
      accessSync(join(path, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
