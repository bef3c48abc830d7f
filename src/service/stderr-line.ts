import { writeSync } from 'node:fs';

/**
 * A line for people. Not by `process.stderr`: where nobody reads that any more, or its disk is full, it has an error of its own
 * that ends the application, which may never have written to it.
 */
export function tellOnStderr(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // Nobody is left to tell.
  }
}
