import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processTree } from './process-usage.ts';

/** How to start a process of the bench. */
interface Command {
  /** Names the process in messages. */
  readonly name: string;
  readonly file: string;
  readonly arguments: readonly string[];
  /** The core it is pinned to; undefined leaves the choice to the kernel. */
  readonly core: number | undefined;
}

/** A process that stays up until the workspace is closed. */
export interface Service {
  readonly pid: number;
  /** Throws, with the end of what it wrote to standard error, once the process has ended by itself. */
  assertAlive(): void;
}

/** A temporary directory and the processes of one run. Whatever ends the run, nothing of it stays behind. */
export interface Workspace {
  readonly directory: string;
  /** Writes a file into the directory and returns its path. */
  write(name: string, content: string | Uint8Array): string;
  /** Starts a process that stays up. */
  start(command: Command): Service;
  /** Runs a process to its end and returns its standard output. Rejects on any exit code but 0, or after `timeoutMs`. */
  run(command: Command, timeoutMs: number): Promise<string>;
  /** Ends every process and removes the directory. Every call waits for the one and only closing. */
  close(): Promise<void>;
}

/** How long a process may take to end by itself before it is killed. */
const graceMs = 3_000;

/** Opens a workspace that closes itself on SIGINT, SIGTERM and on every way this process may exit. */
export function createWorkspace(): Workspace {
  const directory = mkdtempSync(join(tmpdir(), 'mulligan-bench-'));
  const living = new Set<ChildProcess>();
  let closed: Promise<void> | undefined;
  let isLeaving = false;

  const launch = (command: Command, stdout: 'ignore' | 'pipe', stderr: number | 'pipe'): ChildProcess => {
    if (closed !== undefined) throw new Error(`the workspace is closed, ${command.name} cannot be started`);
    const pin = command.core === undefined ? [] : ['taskset', '-c', String(command.core)];
    // Should this process be killed outright, the kernel ends the child in its stead.
    const [file = '', ...rest] = [...pin, 'setpriv', '--pdeathsig', 'TERM', command.file, ...command.arguments];
    const child = spawn(file, rest, { cwd: directory, stdio: ['ignore', stdout, stderr] });
    living.add(child);
    child.once('close', () => living.delete(child));
    child.once('error', () => living.delete(child));
    return child;
  };

  const start = (command: Command): Service => {
    const log = join(directory, `${command.name}.stderr`);
    const descriptor = openSync(log, 'w');
    const child = launch(command, 'ignore', descriptor);
    closeSync(descriptor);
    let end: string | undefined;
    child.once('error', (error) => (end = error.message));
    child.once('exit', (code, signal) => (end = `ended with ${signal ?? `code ${code}`}`));
    return {
      pid: child.pid ?? -1,
      assertAlive() {
        if (end !== undefined) throw new Error(`${command.name} ${end}:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
      },
    };
  };

  const run = (command: Command, timeoutMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = launch(command, 'pipe', 'pipe');
      const timer = setTimeout(() => {
        endTree(child, 'SIGKILL');
        reject(new Error(`${command.name} had not ended after ${timeoutMs} ms`));
      }, timeoutMs);
      let output = '';
      let complaint = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
      child.once('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      child.once('close', (code, signal) => {
        clearTimeout(timer);
        // Ended by the cleaning up after Ctrl-C: this process exits in a moment, and the reason is no news to anybody.
        if (isLeaving) return;
        if (code === 0) resolve(output);
        else
          reject(
            new Error(`${command.name} ended with ${signal ?? `code ${code}`}:\n${(complaint + output).slice(-2_000)}`),
          );
      });
    });

  const removeNow = (): void => {
    for (const child of living) endTree(child, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };

  const endAll = async (): Promise<void> => {
    const ends = [...living].map((child) => new Promise((resolve) => child.once('close', resolve)));
    for (const child of living) child.kill('SIGTERM');
    const timer = setTimeout(() => {
      for (const child of living) endTree(child, 'SIGKILL');
    }, graceMs);
    await Promise.all(ends);
    clearTimeout(timer);
    removeNow();
    process.off('exit', removeNow);
  };

  const close = (): Promise<void> => (closed ??= endAll());

  const leave = (code: number): void => {
    isLeaving = true;
    void close().then(() => process.exit(code));
  };
  // Not `once`: a second Ctrl-C would end this process in the middle of its cleaning up.
  process.on('SIGINT', () => leave(130));
  process.on('SIGTERM', () => leave(143));
  process.once('exit', removeNow);

  return {
    directory,
    write(name, content) {
      const path = join(directory, name);
      writeFileSync(path, content);
      return path;
    },
    start,
    run,
    close,
  };
}

/** Kills a child with its descendants: nginx's worker outlives a master that is killed alone. */
function endTree(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  for (const pid of processTree(child.pid)) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone already.
    }
  }
}
