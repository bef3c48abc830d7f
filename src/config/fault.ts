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

/** Control characters (and the separators some terminals and log readers break lines at) as `\u….` escapes: a file's content must not steer a terminal. */
export function printable(text: string, maxLength: number = 80): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  // oxlint-disable-next-line no-control-regex
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
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
