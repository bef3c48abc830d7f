import { isDeepStrictEqual } from 'node:util';
import { formatFault } from '../config/fault.ts';
import { readConfigFile } from '../gateway/config-file.ts';
import type { FileWatch } from '../gateway/watch-file.ts';
import { watchFile } from '../gateway/watch-file.ts';
import { summary } from './check.ts';
import { exitCode } from './exit-code.ts';
import type { RunningGateway } from './run-gateway.ts';
import { runGateway } from './run-gateway.ts';

/** `mulligan serve`: the gateway of a file, kept in line with the file until it is told to stop. */
export async function serve(path: string): Promise<void> {
  const result = readConfigFile(path);
  const faults = result.ok ? result.warnings : result.faults;
  if (!result.ok) {
    for (const fault of faults) process.stderr.write(`${formatFault(fault)}\n`);
    process.stderr.write(`mulligan: ${path} is not a usable configuration; nothing was started\n`);
    process.exitCode = exitCode.usage;
    return;
  }
  let watch: FileWatch | undefined;
  const running = await runGateway(result.config, () => watch?.close());
  for (const fault of faults) running.say('warn', formatFault(fault));
  const reload = (): void => void reloadFrom(path, running);
  process.on('SIGHUP', reload);
  try {
    watch = watchFile(path, reload, (error) =>
      running.say('warn', `${path} is no longer watched: ${error.message}; SIGHUP reloads it`),
    );
  } catch (error) {
    running.say('warn', `${path} cannot be watched: ${String(error)}; SIGHUP reloads it`);
  }
  running.announce();
}

/** A file with faults changes nothing: the running configuration stays. */
async function reloadFrom(path: string, running: RunningGateway): Promise<void> {
  const { gateway, say } = running;
  const result = readConfigFile(path);
  for (const fault of result.ok ? result.warnings : result.faults)
    say(fault.severity === 'error' ? 'error' : 'warn', formatFault(fault));
  if (!result.ok) {
    gateway.refuseReload(`${path} is not a usable configuration`);
    say('error', `${path} was not taken over: the running configuration stays`);
    return;
  }
  if (isDeepStrictEqual(result.config, gateway.config)) {
    say('info', `${path} says what is running already`);
    return;
  }
  try {
    await gateway.reload(result.config);
    running.announce();
    say('info', `${path} reloaded: ${summary(result.config)}`);
  } catch (error) {
    say(
      'error',
      `${path} was not taken over: ${error instanceof Error ? error.message : String(error)}; the running configuration stays`,
    );
  }
}
