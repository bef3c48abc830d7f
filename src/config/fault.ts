/** One thing wrong with a configuration, and where. */
export interface ConfigFault {
  /** `error`: the configuration is refused. `warning`: it is taken, but something in it can have no effect. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
  /** `routes[0].retry.codes[1]`; empty when the file as a whole is meant. */
  readonly path: string;
  /** What is wrong. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
}

export type DataPath = readonly (string | number)[];

/** A fault before its place in the file is known. */
export interface DataFault {
  readonly severity?: 'error' | 'warning';
  readonly path: DataPath;
  /** Point at the key (an unknown key) instead of its value. */
  readonly atKey?: boolean;
  readonly message: string;
  readonly hint: string;
}

// Control characters are what is looked for.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Control characters, the separators that some readers break lines at, and marks that turn the direction of writing, as
 * `\u….` escapes: the content of a file must not steer a terminal.
 */
export function printable(text: string, maxLength: number = 80): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cut.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function formatPath(path: DataPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[\w-]+$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `["${part}"]`;
  }
  return text;
}

/** `file:line:column path: message (hint)`, one line. */
export function formatFault(fault: ConfigFault): string {
  const mark = fault.severity === 'warning' ? 'warning: ' : '';
  const path = fault.path === '' ? '' : `${fault.path}: `;
  const hint = fault.hint === '' ? '' : ` (${fault.hint})`;
  return `${fault.file}:${fault.line}:${fault.column} ${mark}${path}${fault.message}${hint}`;
}
