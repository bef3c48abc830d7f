import type { ConfigFault } from '../config/fault.ts';
import type { Finding } from './finding.ts';

/**
 * The findings as commands of a GitHub Actions workflow, which shows them beside the lines they are about.
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function githubAnnotations(findings: readonly Finding[]): string {
  return findings.map((finding) => command(finding, `mulligan ${finding.rule}`)).join('');
}

/** The same of what is wrong with a file itself. */
export function githubFault(fault: ConfigFault): string {
  return command(fault, 'mulligan');
}

function command({ severity, file, line, column, path, message, hint }: Finding | ConfigFault, title: string): string {
  const where = path === '' ? '' : `${path}: `;
  const remedy = hint === '' ? '' : ` (${hint})`;
  const place = `file=${property(file)},line=${line},col=${column},title=${property(title)}`;
  return `::${severity} ${place}::${data(`${where}${message}${remedy}`)}\n`;
}

/** A line break would end the command, and begin another one that the file's author wrote. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
