import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createSignal } from '../support/signal.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** The real command in a process of its own. */
export interface RunningCli {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves with the first whole line of standard output that `check` takes. */
  line(check: (line: string) => boolean): Promise<string>;
  /** Resolves when standard error matches. */
  said(pattern: RegExp): Promise<void>;
  /** The n-th address it listens on (1-based). */
  address(number?: number): Promise<string>;
  /**
   * Resolves with the exit code; a signal's name when it was killed.
   * @param timeoutMs the bound of the wait, for a command that starts processes of its own
   */
  exit(timeoutMs?: number): Promise<number | string>;
}

export function startCli(t: TestContext, args: readonly string[], nodeArgs: readonly string[] = []): RunningCli {
  const child = spawn(process.execPath, [...nodeArgs, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const signal = createSignal();
  let stdout = '';
  let stderr = '';
  let ended: number | string | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    signal.changed();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    signal.changed();
  });
  child.on('close', (code, name) => {
    ended = code ?? name ?? 'unknown';
    signal.changed();
  });
  t.after(() => {
    child.kill('SIGKILL');
  });
  const until = <T>(check: () => T | false | undefined, what: string, timeoutMs?: number): Promise<T> =>
    signal.until(check, {
      what,
      timeoutMs,
      describe: () => `exit ${String(ended)}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`,
    });
  const lines = (): string[] => stdout.split('\n').slice(0, -1);
  return {
    child,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    line: (check) => until(() => lines().find(check), 'a line on standard output'),
    said: async (pattern) => {
      await until(() => pattern.test(stderr), `${String(pattern)} on standard error`);
    },
    address: (number = 1) =>
      until(() => {
        const line = lines().filter((one) => one.includes('"listening"'))[number - 1];
        return line === undefined ? undefined : (JSON.parse(line) as { address: string }).address;
      }, `listener ${number}`),
    exit: (timeoutMs) => until(() => ended, 'the end of the process', timeoutMs),
  };
}

/** Longest a command that ends by itself may take: the demo, on a machine that does much else. */
const COMMAND_MS = 60_000;

/** Runs a command that ends by itself. */
export async function runCli(
  t: TestContext,
  ...args: string[]
): Promise<{ readonly code: number | string; readonly stdout: string; readonly stderr: string }> {
  const cli = startCli(t, args);
  const code = await cli.exit(COMMAND_MS);
  return { code, stdout: cli.stdout, stderr: cli.stderr };
}
