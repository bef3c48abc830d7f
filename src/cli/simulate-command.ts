import type { Command } from 'commander';
import type { SimulateOptions } from './simulate.ts';
import { UsageError } from './exit-code.ts';

const help = `
Modes, for --mode and --compare; each gets the same arrivals:
  file       everything as the file says (the default)
  none       no retries at all
  retries    the retries of the file, without budgets, ownership and lineage
  lineage    the same, but a request that is itself a retry is not retried
  budget     the retries within their budgets, without ownership and lineage
  ownership  the retries within their budgets, and only next to the failure

Loads are told in parts of the load that the same requests make when nothing fails and nothing is retried.
--json prints one document: { file, results: [one a mode] }.

Example: mulligan simulate examples/topologies/online-boutique.yaml --compare retries,budget,ownership`;

/** Adds `mulligan simulate`. */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('see a retry storm before it happens: run the services of a topology file (YAML) on virtual time')
    .argument('<file>', 'the topology')
    .option('--seed <number>', 'the same seed gives the same result (default: as in the file)')
    .option('--duration <time>', 'virtual time, such as 10m (default: as in the file)')
    .option('--mode <mode>', 'which protections take part')
    .option('--compare <modes>', 'several modes side by side, such as retries,budget,ownership')
    .option('--json', 'print one JSON document')
    .option('--report <file>', 'write a report as one HTML page')
    .addHelpText('after', help)
    .action(async (file: string, { report, ...options }: SimulateOptions & { report?: string }) => {
      if (report !== undefined)
        throw new UsageError('--report is not supported yet: --json has everything that a report would show');
      const { simulateFile } = await import('./simulate.ts');
      process.exitCode = await simulateFile(file, options);
    });
}
