import { readFileSync } from 'node:fs';

/** One public door of the package. */
export interface Entry {
  /** What a consumer imports: `mulligan/core`. */
  readonly specifier: string;
  /** `core`; `index` for the root. */
  readonly name: string;
  /** Declarations, relative to the repository. */
  readonly types: string;
  /** The source it is compiled from, relative to the repository. */
  readonly source: string;
}

/** The names that an entry's source exports, each sorted. */
export interface ExportedNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
}

/** The code entries of package.json's `exports`, in its order: the one list of what is public. */
export function publicEntries(): Entry[] {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest;
  return Object.entries(manifest.exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return [];
    const name = path === '.' ? 'index' : path.slice(2);
    const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    return [{ specifier: `mulligan${path.slice(1)}`, name, types: target.types.slice(2), source }];
  });
}

/**
 * Reads the names from the text of an entry's source. An entry consists of comments and `export { … } from` statements
 * only, so that its surface is written out; throws an Error that quotes the first statement of another form.
 */
export function exportedNames(source: string): ExportedNames {
  const values: string[] = [];
  const types: string[] = [];
  const statement = /\s*export\s+(type\s+)?\{([^}]*)\}\s*from\s*'[^']+';/y;
  const text = source.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '').trimEnd();
  while (statement.lastIndex < text.length) {
    const from = statement.lastIndex;
    const match = statement.exec(text);
    if (match === null) {
      const quoted = text.slice(from).trim().split('\n', 1)[0];
      throw new Error(`an entry may only hold \`export { … } from '…';\`, found: ${quoted}`);
    }
    for (const part of (match[2] ?? '').split(',')) {
      const words = part.trim();
      if (words === '') continue;
      const isType = match[1] !== undefined || words.startsWith('type ');
      (isType ? types : values).push(words.replace(/^type /, '').replace(/^.* as /, ''));
    }
  }
  return { values: values.sort(), types: types.sort() };
}
