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
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(resolve(path)), { persistent: false }, (_event, changed) => {
    // `..data` is the link that a Kubernetes ConfigMap volume swaps.
    if (changed !== null && changed !== name && !changed.startsWith('..')) return;
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
