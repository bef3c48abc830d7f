import type { Command } from 'commander';
import { SIMULATION_MODES } from '../simulator/mode.ts';
import type { SimulateOptions } from './simulate.ts';
import { formatList } from './input-format.ts';

const modes = Object.entries(SIMULATION_MODES).map(([mode, meaning]) => `  ${mode.padEnd(11)}${meaning}`);

const help = `
Modes, for --mode (default file) and --compare; each gets the same arrivals:
${modes.join('\n')}

Formats, for --input:
${formatList()}

Loads are told in parts of the load that the same requests make when nothing fails and nothing is retried.
--json prints one document: { file, assumptions, partial, notRun: [modes], results: [one a mode] }.
--report writes one HTML page that needs nothing from elsewhere: plots, tables, the graph of calls.
Ctrl-C ends the run early; what there is comes out, marked as a part, with exit code 130.

Example: mulligan simulate examples/topologies/online-boutique.yaml --compare retries,budget,ownership`;

/** Adds `mulligan simulate`. */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('see a retry storm before it happens: run the services of a file on virtual time')
    .argument('<file>', 'a topology, a gateway file or traces')
    .option('--seed <number>', 'the same seed gives the same result (default: as in the file)')
    .option('--duration <time>', 'virtual time, such as 10m (default: as in the file)')
    .option('--mode <mode>', 'which protections take part')
    .option('--compare <modes>', 'several modes side by side, such as retries,budget,ownership')
    .option('--input <format>', 'what the file is (default: told by its content)')
    .option('--json', 'print one JSON document')
    .option('--report <file>', 'write a report as one HTML page; replaces the file')
    .addHelpText('after', help)
    .action(async (file: string, options: SimulateOptions) => {
      const { simulateFile } = await import('./simulate.ts');
      process.exitCode = await simulateFile(file, options);
    });
}
