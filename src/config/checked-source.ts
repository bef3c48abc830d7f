import type { z } from 'zod';
import type { ConfigFault, DataFault } from './fault.ts';
import { formatPath, printable } from './fault.ts';
import { faultsOfIssues } from './schema-faults.ts';
import { placesIn } from './text-places.ts';
import { readYaml } from './yaml-source.ts';

/** What a YAML file of one kind must look like. */
export interface FileForm<File> {
  readonly schema: z.ZodType<File>;
  /** What no single setting can know. They get the plain data, so that they also run when the schema found faults. */
  readonly crossChecks: (data: unknown) => readonly DataFault[];
  /** What a file needs at least: what to do about an empty one. */
  readonly emptyHint: string;
}

export interface CheckedSource<File> {
  /** `undefined` when the schema refused it. */
  readonly file: File | undefined;
  /** Ordered by place; warnings among them. */
  readonly faults: readonly ConfigFault[];
}

/** A file with more faults than this is the wrong file; what it holds must not flood a terminal or a log. */
const maxFaultCount = 100;

/**
 * Reads a text and finds every fault in it in one run. Never throws.
 * @param fileName What faults call the file.
 */
export function checkSource<File>(text: string, fileName: string, form: FileForm<File>): CheckedSource<File> {
  const source = readYaml(text, form.emptyHint);
  const placed = placer(text, fileName);
  const faults: ConfigFault[] = source.faults.map((fault) => placed(fault.offset, fault));
  let file: File | undefined;
  if (source.data !== undefined) {
    const result = form.schema.safeParse(source.data);
    const found = [
      ...(result.success ? [] : faultsOfIssues(result.error.issues, form.schema, source.data)),
      ...form.crossChecks(source.data),
    ];
    const seen = new Set<string>();
    for (const fault of found) {
      // Two checks may see one fault (an empty list, say): the first one's words stand.
      const key = JSON.stringify([fault.severity ?? 'error', fault.path]);
      if (seen.has(key)) continue;
      seen.add(key);
      faults.push(placed(source.offsetOf(fault.path, fault.atKey === true), fault));
    }
    if (result.success) file = result.data;
  }
  return { file, faults: faults.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

/** The faults that are worth showing, errors first among them when there are too many. */
export function limitFaults(faults: readonly ConfigFault[], fileName: string): readonly ConfigFault[] {
  if (faults.length <= maxFaultCount) return faults;
  const kept = faults
    .toSorted((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
    .slice(0, maxFaultCount);
  const last = kept.at(-1)!;
  return [
    ...kept,
    {
      severity: 'error',
      file: fileName,
      line: last.line,
      column: last.column,
      path: '',
      message: `${faults.length - maxFaultCount} more faults are not shown`,
      hint: 'correct these first',
    },
  ];
}

function placer(
  text: string,
  file: string,
): (offset: number, fault: Pick<DataFault, 'severity' | 'path' | 'message' | 'hint'>) => ConfigFault {
  const placeOf = placesIn(text);
  return (offset, { severity = 'error', path, message, hint }) => ({
    severity,
    file,
    ...placeOf(offset),
    path: printable(formatPath(path), 120),
    message,
    hint,
  });
}
