/** Text that is markup already. Everything else is escaped where it is put in. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | string | number | readonly Content[];

/** A tagged template for HTML and SVG: what is put in is escaped, unless it is markup itself. */
export function markup(parts: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return new Markup(parts.map((part, index) => (index === 0 ? part : textOf(contents[index - 1]!) + part)).join(''));
}

function textOf(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (typeof content === 'string') return escapeText(content);
  if (typeof content === 'number') return String(content);
  return content.map(textOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
