import { isDeepStrictEqual } from 'node:util';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { namedFiles } from '../config/named-files.ts';
import type { FileWatch } from '../gateway/watch-file.ts';
import { watchFile } from '../gateway/watch-file.ts';

/** Watches the files that a configuration names, such as certificates, which are renewed without it. */
export interface NamedFileWatch extends FileWatch {
  /** From now on the files of this configuration. */
  follow(config: GatewayConfig): void;
}

/** @param onTrouble A file is not watched (any longer). */
export function watchNamedFiles(onChange: () => void, onTrouble: (path: string, error: Error) => void): NamedFileWatch {
  let followed: readonly string[] = [];
  let watches: FileWatch[] = [];
  const close = (): void => {
    for (const watch of watches) watch.close();
    watches = [];
  };
  return {
    close,
    follow(config) {
      const files = namedFiles(config);
      if (isDeepStrictEqual(files, followed)) return;
      close();
      followed = files;
      for (const path of files) {
        try {
          watches.push(watchFile(path, onChange, (error) => onTrouble(path, error)));
        } catch (error) {
          onTrouble(path, error instanceof Error ? error : new Error(String(error)));
        }
      }
    },
  };
}
