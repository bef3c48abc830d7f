import type { GatewayConfig } from '../config/gateway-config.ts';
import { formatFault } from '../config/fault.ts';
import { formatCondition, isTrouble } from '../config/gateway-api/condition.ts';
import { readConfigFile } from '../gateway/config-file.ts';
import { readManifestFolder } from '../gateway/manifest-folder.ts';
import type { FileWatch } from '../gateway/watch-file.ts';
import { watchFile, watchFolder } from '../gateway/watch-file.ts';
import type { GatewaySettings } from './gateway-settings.ts';

/** Where a gateway's configuration comes from, and how to notice that it changed. */
export interface ConfigSource {
  /** For people. */
  readonly path: string;
  read(): SourceReading;
  /** @throws the system's error when it cannot be watched */
  watch(onChange: () => void, onError: (error: Error) => void): FileWatch;
}

export interface SourceReading {
  /** `undefined`: nothing here can be started. */
  readonly config: GatewayConfig | undefined;
  /** What is wrong, one line each. */
  readonly messages: readonly { readonly level: 'warn' | 'error'; readonly text: string }[];
}

/** A gateway file: whole or not at all. */
export function fileSource(path: string): ConfigSource {
  return {
    path,
    read() {
      const result = readConfigFile(path);
      const faults = result.ok ? result.warnings : result.faults;
      return {
        config: result.ok ? result.config : undefined,
        messages: faults.map((fault) => ({
          level: fault.severity === 'error' ? 'error' : 'warn',
          text: formatFault(fault),
        })),
      };
    },
    watch: (onChange, onError) => watchFile(path, onChange, onError),
  };
}

/**
 * A folder of Kubernetes resources: what can be served of it. Once something was read, a file or resource that is newly
 * broken is refused, and the reading with it: an API server would have kept what it had, and so does the gateway.
 */
export function folderSource(path: string, settings: GatewaySettings): ConfigSource {
  let brokenBefore: ReadonlySet<string> | undefined;
  return {
    path,
    read() {
      const { config, conditions, faults, refused } = readManifestFolder(path);
      const broken = refused.filter((name) => brokenBefore?.has(name) === false);
      const usable = broken.length === 0 ? config : undefined;
      if (usable !== undefined) brokenBefore = new Set(refused);
      return {
        config: usable === undefined ? undefined : { ...usable, ...settings },
        messages: [
          ...faults.map((fault) => ({
            level: fault.severity === 'error' ? ('error' as const) : ('warn' as const),
            text: formatFault(fault),
          })),
          ...conditions.filter(isTrouble).map((one) => ({ level: 'error' as const, text: formatCondition(one) })),
          ...(broken.length === 0
            ? []
            : [{ level: 'error' as const, text: `newly broken: ${broken.slice(0, 10).join(', ')}` }]),
        ],
      };
    },
    watch: (onChange, onError) => watchFolder(path, onChange, onError),
  };
}
