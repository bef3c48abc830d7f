import { watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

export interface FileWatch {
  close(): void;
}

/** Editors and configuration mounts write in several steps; the file is looked at when they have been quiet for so long. */
const quietMs = 100;

/**
 * Calls `onChange` some time after the file, or what a link in its directory leads to, may have changed.
 * The directory is watched, not the file: editors and Kubernetes replace a file, and a watch on it would follow the old one.
 * @throws the system's error when the directory cannot be watched
 */
export function watchFile(path: string, onChange: () => void, onError: (error: Error) => void): FileWatch {
  const name = basename(path);
  // `..data` is the link that a Kubernetes ConfigMap volume swaps.
  const concerns = (changed: string): boolean => changed === name || changed.startsWith('..');
  return watchDirectory(dirname(resolve(path)), concerns, onChange, onError);
}

/**
 * Calls `onChange` some time after a file of the folder may have changed, came or went; once for changes in a row.
 * @throws the system's error when the folder cannot be watched
 */
export function watchFolder(path: string, onChange: () => void, onError: (error: Error) => void): FileWatch {
  return watchDirectory(resolve(path), () => true, onChange, onError);
}

function watchDirectory(
  directory: string,
  concerns: (changed: string) => boolean,
  onChange: () => void,
  onError: (error: Error) => void,
): FileWatch {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(directory, { persistent: false }, (_event, changed) => {
    if (changed !== null && !concerns(changed)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, quietMs);
  });
  watcher.on('error', onError);
  return {
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
