/** One import, export-from or `import()` of a source file. */
export interface ImportStatement {
  /** As written; `undefined` for an `import()` of something computed. */
  readonly specifier: string | undefined;
  readonly line: number;
}

/**
 * The text with comments turned to spaces, and the insides of quoted strings too when `strings` is `'blank'`. Line
 * numbers stay. It knows comments, strings and templates, not regular expressions: one that holds a quote is read as a
 * string up to the end of its line at most.
 */
export function withoutComments(text: string, strings: 'keep' | 'blank'): string {
  const token = /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`/g;
  return text.replaceAll(token, (found) => {
    if (found.startsWith('`')) return found;
    if (!found.startsWith('/')) return strings === 'keep' ? found : `''`;
    return found.replaceAll(/[^\n]/g, ' ');
  });
}

/** Every module that a source names, types included. */
export function importsOf(text: string): ImportStatement[] {
  const code = withoutComments(text, 'keep');
  const patterns = [
    /\b(?:import|export)\b[^;'"`()]*?\bfrom\s*(?<quoted>'[^']*'|"[^"]*")/g,
    /\bimport\s*(?<quoted>'[^']*'|"[^"]*")/g,
    /\bimport\s*\(\s*(?<quoted>'[^']*'|"[^"]*")?/g,
    /\brequire\s*\(\s*(?<quoted>'[^']*'|"[^"]*")?/g,
  ];
  const found = patterns.flatMap((pattern) => Array.from(code.matchAll(pattern)));
  return found
    .map((match) => ({
      specifier: match.groups?.['quoted']?.slice(1, -1),
      line: code.slice(0, match.index).split('\n').length,
    }))
    .sort((a, b) => a.line - b.line);
}
