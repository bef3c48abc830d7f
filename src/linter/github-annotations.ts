import type { Finding } from './finding.ts';

/**
 * The findings as commands of a GitHub Actions workflow, which shows them beside the lines they are about.
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function githubAnnotations(findings: readonly Finding[]): string {
  return findings
    .map(({ severity, file, line, column, rule, path, message, hint }) => {
      const where = path === '' ? '' : `${path}: `;
      const place = `file=${property(file)},line=${line},col=${column},title=${property(`mulligan ${rule}`)}`;
      return `::${severity} ${place}::${data(`${where}${message} (${hint})`)}\n`;
    })
    .join('');
}

/** A line break would end the command, and begin another one that the file's author wrote. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
