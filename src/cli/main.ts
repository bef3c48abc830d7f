#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addDemoCommand } from './demo.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { boundYoungGeneration } from './young-generation.ts';
import type { SettingOptions } from './gateway-settings.ts';
import type { ProxyOptions } from './proxy.ts';
import { addLintCommand } from './lint-command.ts';
import { addSimulateCommand } from './simulate-command.ts';

const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** A command's module is loaded when the command runs: `check` needs no proxy, and starts twice as fast without it. */
function createProgram(): Command {
  const program = new Command('mulligan')
    .description('Retries that cannot become storms: a gateway with one explainable retry core.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .addHelpText(
      'after',
      '\nExit codes: 0 fine, 1 runtime failure, 2 bad usage or configuration, 3 a limit of `lint` is exceeded, 130 ended by Ctrl-C.',
    );
  program
    .command('serve')
    .description('run the gateway of a file or folder; SIGHUP or a change of it reloads, SIGTERM drains')
    .option('-c, --config <file>', 'the gateway file (YAML)', once('-c'))
    .option('--gateway-api <folder>', 'a folder of Kubernetes Gateway API resources (YAML) instead')
    .option('--admin <address>', 'with --gateway-api: host:port of the admin interface, loopback only')
    .option('--access-log <path>', "with --gateway-api: a file, or '-' for standard output (default)")
    .addHelpText(
      'after',
      '\nPrints one JSON line on standard output for each address it listens on, then the access log if it goes there.',
    )
    .action(async (options: SourceOptions) => {
      boundYoungGeneration();
      const path = sourcePath(options);
      const { fileSource, folderSource } = await import('./config-source.ts');
      const { gatewaySettings } = await import('./gateway-settings.ts');
      const { serve } = await import('./serve.ts');
      await serve(options.gatewayApi === undefined ? fileSource(path) : folderSource(path, gatewaySettings(options)));
    });
  program
    .command('proxy')
    .description('run a gateway without a file')
    .option('--listen <address>', 'host:port to listen on; port 0 takes any free port')
    .option('--to <url>', 'where requests go; may be given several times', collect)
    .option('--retries <count>', 'sends beyond the first, 0 to 100 (default: one less than the endpoints, at least 1)')
    .option('--on <failures>', 'what is retried: unsent,rejected,stale,reset,timeout (default unsent,rejected,stale)')
    .option('--codes <statuses>', 'response statuses that are retried, such as 502,503,504 (default none)')
    .option('--access-log <path>', "a file, '-' for standard output, or off", '-')
    .addHelpText(
      'after',
      '\nExample: mulligan proxy --listen 127.0.0.1:8080 --to http://127.0.0.1:9001 --to http://127.0.0.1:9002 --retries 2',
    )
    .action(async (options: Partial<ProxyOptions> & { accessLog: string }) => {
      boundYoungGeneration();
      const listen = required(options.listen, '--listen HOST:PORT');
      const to = required(options.to, '--to URL');
      const { proxy } = await import('./proxy.ts');
      await proxy({ ...options, listen, to });
    });
  program
    .command('check')
    .description('validate a gateway file; prints every fault as file:line:column path: message (hint)')
    .option('-c, --config <file>', 'the gateway file (YAML)', once('-c'))
    .option('--gateway-api <folder>', 'a folder of Kubernetes Gateway API resources (YAML) instead')
    .option('--json', 'print one JSON object')
    .action(async (options: SourceOptions & { json?: boolean }) => {
      const path = sourcePath(options);
      const { check, checkFolder } = await import('./check.ts');
      const json = options.json === true;
      process.exitCode = options.gatewayApi === undefined ? check(path, json) : checkFolder(path, json);
    });
  addSimulateCommand(program);
  addLintCommand(program);
  addDemoCommand(program);
  return program;
}

interface SourceOptions extends SettingOptions {
  readonly config?: string;
  readonly gatewayApi?: string;
}

function sourcePath({ config, gatewayApi, admin, accessLog }: SourceOptions): string {
  if (gatewayApi === undefined && (admin ?? accessLog) !== undefined)
    throw new UsageError('--admin and --access-log belong to --gateway-api: a gateway file has settings for both');
  if (config !== undefined && gatewayApi !== undefined)
    throw new UsageError('-c FILE and --gateway-api FOLDER exclude each other: give one of the two');
  return gatewayApi ?? required(config, '-c FILE');
}

/** Checked here, not by the parser of options: a misspelt option is then told as such, not as a missing one. */
function required<Value>(value: Value | undefined, option: string): Value {
  if (value === undefined) throw new UsageError(`${option} is missing (--help shows what there is)`);
  return value;
}

function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

async function run(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exitCode.fine : exitCode.usage;
      return;
    }
    process.stderr.write(`mulligan: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof UsageError ? exitCode.usage : exitCode.failure;
  }
}

const RESULT_COMMANDS: ReadonlySet<string | undefined> = new Set(['check', 'lint', 'simulate']);

// A reader that went away (`mulligan check … | head`) is no reason to die with a stack trace.
process.stderr.on('error', () => {});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // What ends with its result has failed without it. What runs on has its own answer for lines that are lost.
  if (error.code === 'EPIPE' || !RESULT_COMMANDS.has(process.argv[2])) return;
  process.stderr.write(`mulligan: the result cannot be written: ${error.message}\n`);
  process.exitCode = exitCode.failure;
});
await run(process.argv);

/** An option that is given twice says two things, and only one could be obeyed. */
function once(option: string): (value: string, previous: string | undefined) => string {
  return (value, previous) => {
    if (previous !== undefined)
      throw new UsageError(`${option} is given twice: ${previous} and ${value}; give one file`);
    return value;
  };
}
