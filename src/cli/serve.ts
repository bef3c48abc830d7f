import { isDeepStrictEqual } from 'node:util';
import { namedFiles } from '../config/named-files.ts';
import type { FileWatch } from '../gateway/watch-file.ts';
import { summary } from './check.ts';
import type { ConfigSource } from './config-source.ts';
import { exitCode } from './exit-code.ts';
import type { RunningGateway } from './run-gateway.ts';
import { runGateway } from './run-gateway.ts';
import { watchNamedFiles } from './named-file-watch.ts';

/** `mulligan serve`: the gateway of a file or folder, kept in line with it until it is told to stop. */
export async function serve(source: ConfigSource): Promise<void> {
  const { path } = source;
  const { config, messages } = source.read();
  if (config === undefined) {
    for (const { text } of messages) process.stderr.write(`${text}\n`);
    process.stderr.write(`mulligan: ${path} is not a usable configuration; nothing was started\n`);
    process.exitCode = exitCode.usage;
    return;
  }
  const watches: FileWatch[] = [];
  const running = await runGateway(config, () => {
    for (const watch of watches) watch.close();
  });
  for (const { level, text } of messages) running.say(level, text);
  const reload = (): void => void reloadFrom(source, running).then(() => files.follow(running.gateway.config));
  const files = watchNamedFiles(reload, (file, error) =>
    running.say('warn', `${file} is not watched: ${error.message}; SIGHUP reads it anew`),
  );
  watches.push(files);
  files.follow(config);
  process.on('SIGHUP', reload);
  try {
    const watch = source.watch(reload, (error) =>
      running.say('warn', `${path} is no longer watched: ${error.message}; SIGHUP reloads it`),
    );
    watches.push(watch);
  } catch (error) {
    running.say('warn', `${path} cannot be watched: ${String(error)}; SIGHUP reloads it`);
  }
  running.announce();
}

/** What cannot be started changes nothing: the running configuration stays. */
async function reloadFrom(source: ConfigSource, running: RunningGateway): Promise<void> {
  const { gateway, say } = running;
  const { path } = source;
  const { config, messages } = source.read();
  for (const { level, text } of messages) say(level, text);
  if (config === undefined) {
    gateway.refuseReload(`${path} is not a usable configuration`);
    say('error', `${path} was not taken over: the running configuration stays`);
    return;
  }
  if (isDeepStrictEqual(config, gateway.config) && namedFiles(config).length === 0) {
    say('info', `${path} says what is running already`);
    return;
  }
  try {
    await gateway.reload(config);
    running.announce();
    say('info', `${path} reloaded: ${summary(config)}`);
  } catch (error) {
    say(
      'error',
      `${path} was not taken over: ${error instanceof Error ? error.message : String(error)}; the running configuration stays`,
    );
  }
}
