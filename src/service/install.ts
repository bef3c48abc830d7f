import { setOutboundTracker } from '../engine/outbound-tracking.ts';
import type { ServiceMetrics } from './counters.ts';
import { guardedTracker } from './guarded-tracker.ts';
import { Guard } from './hooks/guard.ts';
import { hookHttp2Client } from './hooks/http2-client.ts';
import { hookHttp2Server } from './hooks/http2-server.ts';
import { hookHttpClient } from './hooks/http-client.ts';
import { hookHttpServer } from './hooks/http-server.ts';
import { hookUndici } from './hooks/undici.ts';
import { createMemoryFile, wordsOf, type MemoryFile } from './memory-file.ts';
import { awaitOpenTelemetry } from './opentelemetry-metrics.ts';
import { Service, type ServiceHost } from './service.ts';
import type { ServiceOptions } from './settings.ts';
import { tellOnStderr } from './stderr-line.ts';

export interface InstallOptions {
  /** Whether `node:http` and `node:http2` servers are hooked. `false` where a middleware gives each request its context. Default true. */
  readonly servers?: boolean | undefined;
  /** Lines for people: what a hook failed with, a memory file that cannot be read. Default: stderr. */
  readonly tell?: ((line: string) => void) | undefined;
  readonly host?: ServiceHost | undefined;
}

/** The service of this process. */
export interface InstalledService {
  metrics(): ServiceMetrics;
  /** Writes what was learned, where a file for it was named. */
  save(): Promise<void>;
  /** Takes every hook away again; requests under way keep their context. */
  uninstall(): void;
}

/** What the rest of this layer needs of it. */
export interface ServiceProcess extends InstalledService {
  readonly service: Service;
  readonly guard: Guard;
}

const KEY = Symbol.for('mulligan.service.1');

const registry = globalThis as { [KEY]?: ServiceProcess | undefined };

/** The service that was installed in this process, by `mulligan/register` or by hand; `undefined` when there is none. */
export function installedService(): ServiceProcess | undefined {
  return registry[KEY];
}

/**
 * Makes this process a citizen of error ownership: what it answers, and what it calls for it, is related from now on.
 *
 * @throws Error when one is installed already, RangeError for a setting out of range
 */
export function installService(settings: ServiceOptions = {}, options: InstallOptions = {}): InstalledService {
  if (registry[KEY] !== undefined) {
    throw new Error('a service is installed in this process already: use installedService(), or uninstall it first');
  }
  const tell = options.tell ?? tellOnStderr;
  const service = new Service(settings, options.host);
  const guard = new Guard(service.counters, tell);
  const stops = service.settings.mode === 'off' ? [] : hooksOf(service, guard, options.servers ?? true);
  if (service.settings.mode !== 'off' && service.settings.openTelemetry) {
    const run = (act: () => void): void => guard.run('opentelemetry', act);
    stops.push(awaitOpenTelemetry(() => service.metrics(), run));
  }
  const file = keepMemory(service, tell);
  stops.push(...(file === undefined ? [] : [file.stop]));
  const installed: ServiceProcess = {
    service,
    guard,
    metrics: () => service.metrics(),
    save: async () => file?.file.save(),
    uninstall() {
      for (const stop of stops.splice(0)) stop();
      if (registry[KEY] === installed) registry[KEY] = undefined;
    },
  };
  registry[KEY] = installed;
  return installed;
}

function hooksOf(service: Service, guard: Guard, servers: boolean): (() => void)[] {
  const hooks = [hookHttpClient, hookUndici, hookHttp2Client, ...(servers ? [hookHttpServer, hookHttp2Server] : [])];
  const stops = hooks.map((hook) => guard.run(`install ${hook.name}`, () => hook(service, guard)));
  return [...stops.filter((stop) => stop !== undefined), setOutboundTracker(guardedTracker(service, guard))];
}

function keepMemory(
  service: Service,
  tell: (line: string) => void,
): { readonly file: MemoryFile; readonly stop: () => void } | undefined {
  const { memoryFile, saveEveryMs } = service.settings;
  if (memoryFile === undefined) return undefined;
  const file = createMemoryFile(memoryFile, service.memory, () => service.nowMs());
  const fault = file.load();
  if (fault !== undefined) tell(`mulligan: ${fault}`);
  let told = false;
  const failed = (error: unknown): void => {
    if (!told) tell(`mulligan: ${memoryFile} cannot be written: ${wordsOf(error)}; this is told once`);
    told = true;
  };
  const timer = setInterval(() => void file.save().catch(failed), saveEveryMs);
  timer.unref();
  const atExit = (): void => {
    try {
      file.saveNow();
    } catch (error) {
      failed(error);
    }
  };
  process.on('exit', atExit);
  return {
    file,
    stop() {
      clearInterval(timer);
      process.off('exit', atExit);
    },
  };
}
