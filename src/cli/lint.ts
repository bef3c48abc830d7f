import { type ConfigFault, printable } from '../config/fault.ts';
import { suggest } from '../config/nearest-name.ts';
import { formatReport } from '../linter/format-report.ts';
import { githubAnnotations, githubFault } from '../linter/github-annotations.ts';
import { lint, type LintOptions, type LintReport } from '../linter/lint.ts';
import { isRuleId, RULES } from '../linter/rule-id.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { inputFormatOf } from './input-format.ts';
import { loadSource } from './topology-source.ts';

export interface LintCommandOptions {
  readonly maxRadius?: string | undefined;
  readonly maxAmplification?: string | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly strict?: boolean | undefined;
  readonly input?: string | undefined;
  readonly format: string;
  readonly json?: boolean | undefined;
}

type OutputFormat = 'text' | 'json' | 'github';

const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'github'];

/**
 * Prints what the linter says about files, each for itself.
 * @param print Gets what it says.
 * @returns the exit code
 */
export function lintFiles(
  paths: readonly string[],
  options: LintCommandOptions,
  print: (text: string) => void = (text) => void process.stdout.write(text),
): number {
  const format = outputFormatOf(options);
  const input = inputFormatOf(options.input);
  const lintOptions = lintOptionsOf(options);
  // Beside the line that it is about, like a finding.
  const tell = format === 'github' ? (fault: ConfigFault): void => print(githubFault(fault)) : undefined;
  const sources = paths.map((path) => loadSource(path, input, tell));
  const reports = sources.flatMap((source) => (source === undefined ? [] : [lint(source, lintOptions)]));
  print(textOf(reports, format));
  if (reports.length < paths.length) return exitCode.usage;
  const findings = reports.flatMap((report) => report.findings);
  const isExceeded = findings.some(({ exceedsLimit }) => exceedsLimit || options.strict === true);
  return isExceeded ? exitCode.exceeded : exitCode.fine;
}

function textOf(reports: readonly LintReport[], format: OutputFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify({ reports })}\n`;
    case 'github':
      return githubAnnotations(reports.flatMap(({ findings }) => findings));
    case 'text':
      return reports
        .map((report) =>
          formatReport(report)
            .split('\n')
            .map((line) => printable(line, Infinity))
            .join('\n'),
        )
        .join('\n');
  }
}

function outputFormatOf({ format, json }: LintCommandOptions): OutputFormat {
  if (json === true && format === 'github') throw new UsageError('--json and --format github exclude each other');
  const known = OUTPUT_FORMATS.find((one) => one === (json === true ? 'json' : format));
  if (known !== undefined) return known;
  throw new UsageError(`--format: ${format} is not a format (${suggest(format, [...OUTPUT_FORMATS])})`);
}

function lintOptionsOf({ maxRadius, maxAmplification, ignore = [] }: LintCommandOptions): LintOptions {
  return {
    maxRadius: numberOf('--max-radius', maxRadius, /^\d{1,4}$/, 'give a whole number from 0'),
    maxAmplification: numberOf(
      '--max-amplification',
      maxAmplification,
      /^[1-9]\d{0,8}(\.\d{1,6})?$/,
      'give a number from 1, such as 1.5',
    ),
    ignore: ignore.map((word) => {
      if (isRuleId(word)) return word;
      throw new UsageError(`--ignore: ${word} is not a rule (${suggest(word, Object.keys(RULES))})`);
    }),
  };
}

function numberOf(option: string, text: string | undefined, form: RegExp, hint: string): number | undefined {
  if (text === undefined) return undefined;
  if (form.test(text)) return Number(text);
  throw new UsageError(`${option} ${text}: ${hint}`);
}
