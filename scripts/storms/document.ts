import { standalonePicture } from '../../src/simulator/report/standalone-picture.ts';
import type { Finding, Reproduction } from './reproduction.ts';

export const DOCUMENT = 'docs/storms.md';

/** What the lab writes for one reproduction: the picture, and the part of the document between its marks. */
export interface Written {
  readonly picturePath: string;
  readonly picture: string;
  readonly section: string;
}

export function write({ id }: Reproduction, { rows, plot }: Finding): Written {
  const table = [
    '| what | expected | measured |',
    '|---|---|---|',
    ...rows.map(
      ({ what, expected, measured, holds }) => `| ${what} | ${expected} | ${holds ? measured : `**${measured}**`} |`,
    ),
  ];
  const alt = /<title id="[^"]*">([^<]*)<\/title>/.exec(plot.text)?.[1] ?? id;
  return {
    picturePath: `docs/storms/${id}.svg`,
    picture: standalonePicture(plot),
    section: `\n![${alt}](storms/${id}.svg)\n\n<details><summary>The numbers</summary>\n\n${table.join('\n')}\n\n</details>\n`,
  };
}

/** The part between the marks of a reproduction; `undefined` where the document has no such marks. */
export function sectionOf(document: string, id: string): string | undefined {
  const match = new RegExp(`<!-- lab: ${id} -->\n([^]*?)<!-- end -->`).exec(document);
  return match?.[1];
}

/** @throws when the document has no marks for it */
export function withSection(document: string, id: string, section: string): string {
  const old = sectionOf(document, id);
  if (old === undefined) throw new Error(`${DOCUMENT} has no <!-- lab: ${id} --> … <!-- end -->`);
  const begin = `<!-- lab: ${id} -->\n`;
  return document.replace(`${begin}${old}<!-- end -->`, () => `${begin}${section}<!-- end -->`);
}
