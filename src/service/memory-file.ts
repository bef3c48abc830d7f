import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { threadId } from 'node:worker_threads';
import type { DependencyMemory } from '../core/ownership/dependency-memory.ts';

/** Where a process leaves what it learned to the next one. */
export interface MemoryFile {
  /** Takes over what is there. @returns what is wrong with it, in words; `undefined` also when there is no file yet */
  load(): string | undefined;
  /** @throws what the file system throws; the old file is whole then */
  save(): Promise<void>;
  /** The same at the end of a process, when nothing can be waited for. */
  saveNow(): void;
}

/** The whole file or none: it is written beside its place and moved there, so that a process that is killed leaves no half. */
export function createMemoryFile(path: string, memory: DependencyMemory, nowMs: () => number): MemoryFile {
  // Two processes of one service may share the place: the one that writes last wins, and neither writes into the other's.
  const beside = `${path}.${String(process.pid)}-${String(threadId)}.tmp`;
  const text = (): string => `${JSON.stringify(memory.snapshot(nowMs(), Date.now()))}\n`;
  return {
    load() {
      let content: string;
      try {
        content = readFileSync(path, 'utf8');
      } catch (error) {
        return isAbsence(error) ? undefined : `${path} cannot be read: ${wordsOf(error)}`;
      }
      let data: unknown;
      try {
        data = JSON.parse(content);
      } catch {
        return `${path} is no JSON; it is written anew`;
      }
      const fault = memory.restore(data, nowMs(), Date.now());
      return fault === undefined ? undefined : `${path}: ${fault}; it is written anew`;
    },
    async save() {
      try {
        await writeFile(beside, text(), { mode: 0o600 });
        await rename(beside, path);
      } catch (error) {
        await rm(beside, { force: true });
        throw error;
      }
    },
    saveNow() {
      try {
        writeFileSync(beside, text(), { mode: 0o600 });
        renameSync(beside, path);
      } catch (error) {
        rmSync(beside, { force: true });
        throw error;
      }
    },
  };
}

function isAbsence(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
