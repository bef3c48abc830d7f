import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';

/** What a script prints that runs in a process of its own, from the repository's root. */
export function runNode(t: TestContext, script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script],
      (error, stdout, stderr) => (error === null ? resolve(stdout) : reject(new Error(stderr, { cause: error }))),
    );
    t.after(() => {
      child.kill('SIGKILL');
    });
  });
}
