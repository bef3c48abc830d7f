import { dirname, join, normalize } from 'node:path/posix';
import { importsOf, withoutComments } from './source-text.ts';

/** What one layer of `src` may use. A layer missing here does not exist. */
export interface LayerRule {
  /** Layers whose files it may import. The same arrows are the `references` of its tsconfig. */
  readonly layers: readonly string[];
  /** Modules of Node that it may import; `any` for a host that talks to the system. */
  readonly node: readonly string[] | 'any';
  /** Packages that it may import. */
  readonly packages: readonly string[];
  /** A pure layer takes time and randomness as arguments and touches nothing outside itself. */
  readonly pure: boolean;
}

/** A source file: its path from the repository's root, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The longest a source may be without a reason. */
const MAX_LINE_COUNT = 250;

/** What makes a pure layer impure. A `Date` made from a number, and `Date.UTC`, depend on nothing but their arguments. */
const IMPURITIES: readonly (readonly [RegExp, string])[] = [
  [/\bDate\s*\.\s*now\b/, 'reads the clock; take nowMs as an argument'],
  [/\bnew\s+Date\s*(?:\(\s*\)|(?!\s*\())/, 'reads the clock; take nowMs as an argument'],
  [/(?<!new\s+)(?<![.\w])Date\s*\(/, 'reads the clock; take nowMs as an argument'],
  [/\bDate\s*\.\s*parse\b/, "depends on the machine's time zone; use Date.UTC"],
  [/\bMath\s*\.\s*random\b/, 'is random; take the random number as an argument'],
  [/(?<![.\w])(?:performance|crypto)\s*\./, 'belongs to the host; take its value as an argument'],
  [
    /(?<![.\w])(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/,
    'is a timer; return a decision and let the host wait',
  ],
  [/(?<![.\w])(?:process|globalThis|global|console|Buffer|fetch)\s*[.([]/, 'belongs to the host'],
];

/** Every breach of the walls in these files, as `path:line: what is wrong`. Empty when there is none. */
export function breaches(
  files: readonly SourceFile[],
  rules: Readonly<Record<string, LayerRule>>,
  longFiles: Readonly<Record<string, string>>,
): string[] {
  const found = files.flatMap((file) => {
    const layer = file.path.split('/')[1] ?? '';
    const rule = rules[layer];
    if (rule === undefined) return [`${file.path}:1: the layer ${layer} is not in the table of layers`];
    return [
      ...importBreaches(file, layer, rule),
      ...purityBreaches(file, rule),
      ...formBreaches(file),
      ...lengthBreaches(file, longFiles[file.path]),
    ];
  });
  const known = new Set(files.map((file) => file.path));
  const stale = Object.keys(longFiles).filter((path) => !known.has(path));
  return [...found, ...stale.map((path) => `${path}:1: has a reason to be long but does not exist`)];
}

function importBreaches(file: SourceFile, layer: string, rule: LayerRule): string[] {
  return importsOf(file.text).flatMap(({ specifier, line }) => {
    const at = `${file.path}:${line}:`;
    if (specifier === undefined) return [`${at} imports something computed: the walls cannot be checked`];
    if (specifier.startsWith('node:')) {
      const allowed = rule.node === 'any' || rule.node.includes(specifier);
      return allowed ? [] : [`${at} ${layer} may not import ${specifier}`];
    }
    if (!specifier.startsWith('.')) {
      return rule.packages.includes(specifier) ? [] : [`${at} ${layer} may not import the package ${specifier}`];
    }
    const target = normalize(join(dirname(file.path), specifier));
    const [root, targetLayer] = target.split('/');
    if (root !== 'src' || targetLayer === undefined) return [`${at} imports ${target}, which is outside src`];
    const crosses = targetLayer !== layer;
    if (crosses && !rule.layers.includes(targetLayer))
      return [`${at} ${layer} may not import ${targetLayer} (${target})`];
    // The door is for consumers: behind it nobody sees any more which file owns a name, and cycles come unseen.
    if (target.endsWith('/index.ts')) return [`${at} imports ${target}: name the file that owns the name`];
    return [];
  });
}

function purityBreaches(file: SourceFile, rule: LayerRule): string[] {
  if (!rule.pure) return [];
  const lines = withoutComments(file.text, 'blank').split('\n');
  return lines.flatMap((line, index) =>
    IMPURITIES.flatMap(([pattern, why]) => {
      const match = pattern.exec(line);
      return match === null ? [] : [`${file.path}:${index + 1}: ${match[0].trim()} ${why}`];
    }),
  );
}

function formBreaches(file: SourceFile): string[] {
  const lines = withoutComments(file.text, 'blank').split('\n');
  return lines.flatMap((line, index) => {
    const at = `${file.path}:${index + 1}:`;
    if (/^\s*export\s+\*/.test(line)) return [`${at} export * hides what is exported: write the names out`];
    if (/^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s/.test(line))
      return [`${at} no enum: use a union of strings`];
    if (/^\s*export\s+default\b/.test(line)) return [`${at} no default export: give it its name`];
    return [];
  });
}

function lengthBreaches(file: SourceFile, reason: string | undefined): string[] {
  const lineCount = file.text.split('\n').length - 1;
  if (lineCount > MAX_LINE_COUNT && reason === undefined) {
    return [`${file.path}:1: ${lineCount} lines are more than ${MAX_LINE_COUNT}: split it, or give the reason`];
  }
  if (lineCount <= MAX_LINE_COUNT && reason !== undefined) {
    return [`${file.path}:1: needs its reason to be long no more (${lineCount} lines)`];
  }
  return [];
}
