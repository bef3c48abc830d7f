/** A fenced block, with what the comment right above it asks for. */
export interface CodeBlock {
  /** The word after the fence: `sh`, `yaml`, `ts`. */
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence, 1-based. */
  readonly line: number;
  /** `<!-- run -->`: a test runs it. */
  readonly run: boolean;
  /** `<!-- file: NAME -->`: written to NAME for the blocks that follow. */
  readonly file: string | undefined;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

/** The fenced blocks of a Markdown text, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const fence = /^(?:<!-- (?<mark>run|file: (?<file>[\w.-]+)) -->\n)?```(?<language>\w*)\n(?<text>[^]*?)^```$/gm;
  return Array.from(markdown.matchAll(fence), (match) => ({
    language: match.groups?.['language'] ?? '',
    text: match.groups?.['text'] ?? '',
    line: lineAt(markdown, match.index) + (match.groups?.['mark'] === undefined ? 0 : 1),
    run: match.groups?.['mark'] === 'run',
    file: match.groups?.['file'],
  }));
}

/** The links of a Markdown text, code left out. */
export function links(markdown: string): Link[] {
  const blank = (code: string): string => code.replaceAll(/[^\n]/g, ' ');
  const prose = markdown.replaceAll(/^```[^]*?^```$/gm, blank).replaceAll(/`[^`\n]*`/g, blank);
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), (match) => ({
    target: match[1] ?? '',
    line: lineAt(markdown, match.index),
  }));
}

/** The anchors that the headings of a Markdown text give. */
export function anchors(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^#{1,6} +(.+)$/gm), (match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
