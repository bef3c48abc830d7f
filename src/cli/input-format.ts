import { suggest } from '../config/nearest-name.ts';
import { isSourceFormat, SOURCE_FORMATS, type SourceFormat } from '../simulator/topology-source.ts';
import { UsageError } from './exit-code.ts';

/** The formats that `--input` takes, a line each. */
export function formatList(): string {
  return listOf(SOURCE_FORMATS);
}

/** Words and what they mean, a line each. */
export function listOf(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map(([word, meaning]) => `  ${word.padEnd(17)}${meaning}`)
    .join('\n');
}

/** @throws UsageError */
export function inputFormatOf(word: string | undefined): SourceFormat | undefined {
  if (word === undefined || isSourceFormat(word)) return word;
  throw new UsageError(`--input: ${word} is not a format (${suggest(word, Object.keys(SOURCE_FORMATS))})`);
}
