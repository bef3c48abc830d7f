import type { Finding } from './finding.ts';
import { isRuleId, type RuleId, RULES } from './rule-id.ts';
import { nearestName } from '../config/nearest-name.ts';
import { printable } from '../config/fault.ts';

/** `# lint-ignore: rule, rule  reason` silences findings of its own line and of the next; `# lint-ignore-file: …` all of the file. */
const REMARK = /(?:^|\s)#\s*lint-ignore(-file)?:\s*([\w-]+(?:\s*,\s*[\w-]+)*)/;

interface Remark {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly isForFile: boolean;
  readonly rule: RuleId;
}

/** What is left of the findings when those that a person has looked at are taken away. */
export interface Silenced {
  readonly findings: readonly Finding[];
  readonly silencedCount: number;
}

/**
 * @param lines of the file, for its remarks
 * @param ignored rules that are silenced everywhere
 */
export function silenced(
  findings: readonly Finding[],
  file: string,
  lines: readonly string[],
  ignored: ReadonlySet<RuleId>,
): Silenced {
  const { remarks, faults } = remarksIn(lines, file);
  const used = new Set<Remark>();
  const kept = findings.filter((finding) => {
    if (ignored.has(finding.rule)) return false;
    const remark = remarks.find((one) => isAbout(one, finding));
    if (remark !== undefined) used.add(remark);
    return remark === undefined;
  });
  const unused = remarks
    .filter((remark) => !used.has(remark) && !ignored.has(remark.rule))
    .map((remark) => unusedFinding(file, remark, `nothing of ${remark.rule} is found here`, 'remove the remark'));
  const remarkFindings = [...faults, ...unused].filter(({ rule }) => !ignored.has(rule));
  return { findings: [...kept, ...remarkFindings], silencedCount: findings.length - kept.length };
}

function isAbout(remark: Remark, { rule, line }: Finding): boolean {
  return remark.rule === rule && (remark.isForFile || line === remark.line || line === remark.line + 1);
}

function remarksIn(
  lines: readonly string[],
  file: string,
): { readonly remarks: readonly Remark[]; readonly faults: readonly Finding[] } {
  const remarks: Remark[] = [];
  const faults: Finding[] = [];
  for (const [index, text] of lines.entries()) {
    const match = REMARK.exec(text);
    if (match === null) continue;
    const place = { line: index + 1, column: text.indexOf('#', match.index) + 1 };
    for (const word of match[2]!.split(',').map((one) => one.trim())) {
      if (isRuleId(word)) remarks.push({ ...place, isForFile: match[1] !== undefined, rule: word });
      else faults.push(unusedFinding(file, place, `${printable(word)} is no rule`, ruleHint(word)));
    }
  }
  return { remarks, faults };
}

function ruleHint(word: string): string {
  const near = nearestName(word, Object.keys(RULES));
  return near === undefined ? `known: ${Object.keys(RULES).join(', ')}` : `did you mean \`${near}\`?`;
}

function unusedFinding(file: string, place: { line: number; column: number }, message: string, hint: string): Finding {
  const { line, column } = place;
  const about = { rule: 'unused-ignore', severity: 'warning', path: '', exceedsLimit: false } as const;
  return { ...about, file, line, column, message, hint };
}
