import type { Command } from 'commander';
import { RULES } from '../linter/rule-id.ts';
import type { LintCommandOptions } from './lint.ts';
import { formatList, listOf } from './input-format.ts';

const help = `
Formats, told by the content, or by --input:
${formatList()}

Rules:
${listOf(RULES)}

A remark in a YAML file silences findings of its line and the next: # lint-ignore: no-budget  why
With the first word lint-ignore-file it silences those of the whole file.

Exit codes: 0 no limit is exceeded, 2 bad usage or a file with faults, 3 a limit is exceeded (--max-radius,
--max-amplification), or with --strict anything was found.

Example: mulligan lint examples/topologies/online-boutique.yaml --max-radius 1`;

/** Adds `mulligan lint`. */
export function addLintCommand(program: Command): void {
  program
    .command('lint')
    .description('find what multiplies an outage, without running anything: storm radius, timeouts, budgets, layers')
    .argument('<files...>', 'topologies, gateway files or traces')
    .option('--max-radius <count>', 'exit 3 when more hops than that retry the same failure (a warning above 1 else)')
    .option('--max-amplification <factor>', 'exit 3 when budgets let through more than that (a warning above 2 else)')
    .option('--ignore <rules>', 'rules that are not told, such as no-budget,no-timeout', collect)
    .option('--strict', 'exit 3 when anything is found')
    .option('--input <format>', 'what the files are')
    .option('--format <format>', 'text, json, or github: annotations of a workflow', 'text')
    .option('--json', 'the same as --format json')
    .addHelpText('after', help)
    .action(async (files: string[], options: LintCommandOptions) => {
      const { lintFiles } = await import('./lint.ts');
      process.exitCode = lintFiles(files, options);
    });
}

function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), ...value.split(',').map((word) => word.trim())];
}
