import { isAbsolute, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';

/** What one test file said. Suites are not counted; tests and subtests are. */
export interface FileReport {
  /** Relative to the current folder. */
  readonly name: string;
  readonly passedCount: number;
  /** One text per failure, ready to print. */
  readonly failures: readonly string[];
  /** `test name: reason`. */
  readonly skips: readonly string[];
  /** What the file printed, and what the runner had to say about it. */
  readonly output: string;
  readonly durationMs: number;
}

interface TestEvent {
  readonly name: string;
  readonly nesting: number;
  readonly line?: number;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details: { readonly duration_ms: number; readonly type?: string; readonly error?: Error };
}

/** A file that does not end (a socket or timer left open) is stopped after this long and has failed. */
const FILE_TIMEOUT_MS = 240_000;

/** Runs one test file in a process of its own, on the Node that runs this script. */
export async function runTestFile(path: string): Promise<FileReport> {
  const file = resolve(path);
  const name = relative('.', file);
  const failures: string[] = [];
  const skips: string[] = [];
  let passedCount = 0;
  let output = '';
  const startedAtMs = performance.now();

  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), FILE_TIMEOUT_MS);
  const stream = run({
    files: [file],
    signal: stop.signal,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const onResult = (event: TestEvent, passed: boolean): void => {
    if (isFileItself(event, file)) {
      if (passed) return;
      failures.push(stop.signal.aborted ? hangText(name) : fail(name, event, 'the file failed as a whole'));
    } else if (isAbsolute(event.name) && !passed) {
      failures.push(fail(name, event, `a hook of the file failed (${relative('.', event.name)}:${event.line})`));
    } else if (isSet(event.skip)) {
      skips.push(`${event.name}: ${event.skip === true ? 'no reason given' : event.skip}`);
    } else if (isSet(event.todo)) {
      failures.push(`${name}: ${event.name}\n    A todo is not a test: write it or remove it.`);
    } else if (!passed) {
      if (!failedOnlyInChildren(event)) failures.push(fail(name, event, undefined));
    } else if (event.details.type !== 'suite') {
      passedCount += 1;
    }
  };
  stream.on('test:pass', (event) => onResult(event, true));
  stream.on('test:fail', (event) => onResult(event, false));
  stream.on('test:stdout', (event) => (output += event.message));
  stream.on('test:stderr', (event) => (output += event.message));
  stream.on('test:diagnostic', (event) => {
    // The run's own counts come without a file; with one it is, for example, an error thrown after its test ended.
    if (event.file !== undefined) output += `${event.message}\n`;
  });
  stream.resume();
  try {
    await new Promise<void>((done, failed) => {
      stream.once('end', done);
      stream.once('error', failed);
    });
  } finally {
    clearTimeout(timer);
  }
  if (passedCount + failures.length + skips.length === 0) {
    failures.push(`${name}: ran no test\n    The file ended without declaring one.`);
  }
  return { name, passedCount, failures, skips, output, durationMs: Math.round(performance.now() - startedAtMs) };
}

function isSet(mark: string | boolean | undefined): mark is string | true {
  return mark !== undefined && mark !== false;
}

/** Node reports a file that crashed, or that declared no test, as one test with the file's name. */
function isFileItself(event: TestEvent, file: string): boolean {
  return event.nesting === 0 && resolve(event.name) === file;
}

/** A suite, or a test with subtests, fails when one in it fails; that one was counted already. */
function failedOnlyInChildren(event: TestEvent): boolean {
  const error = event.details.error as { readonly failureType?: string } | undefined;
  return error?.failureType === 'subtestsFailed';
}

function hangText(name: string): string {
  return `${name}: still running after ${FILE_TIMEOUT_MS / 1000} s\n    It was stopped. Something was left open, or an awaited event never came.`;
}

function fail(name: string, event: TestEvent, title: string | undefined): string {
  const place = event.line === undefined || title !== undefined ? name : `${name}:${event.line}`;
  const cause: unknown = event.details.error?.cause ?? event.details.error;
  const text = typeof cause === 'string' ? cause : inspect(cause, { depth: 6, colors: process.stdout.isTTY });
  return `${place}: ${title ?? event.name}\n${text.replaceAll(/^/gm, '    ')}`;
}
