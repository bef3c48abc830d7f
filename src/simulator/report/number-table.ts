import { markup, type Content, type Markup } from './markup.ts';

export interface NumberTable {
  readonly caption: string;
  readonly head: readonly Content[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly (readonly Content[])[];
}

/** A table that a screen reader can walk: headings say of what they are. */
export function numberTable({ caption, head, rows }: NumberTable): Markup {
  return markup`<div class="wide"><table><caption>${caption}</caption>
<thead><tr>${head.map((cell) => markup`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(([first = '', ...cells]) => markup`<tr><th scope="row">${first}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>\n`)}</tbody></table></div>`;
}

/** Behind a line to click on, so that plots stand near each other; paper shows it. */
export function foldedTable(table: NumberTable): Markup {
  return markup`<details><summary>The numbers</summary>${numberTable(table)}</details>`;
}
