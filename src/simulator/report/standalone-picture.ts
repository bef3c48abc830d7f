import type { Markup } from './markup.ts';
import { COLOURS, PLOT_STYLE } from './plot-style.ts';

/** A plot as the text of an SVG file, with its style and a ground of its own: it is shown on pages of any colour. */
export function standalonePicture(plot: Markup): string {
  const style = `<style>${COLOURS}${PLOT_STYLE}</style><rect class="paper" width="100%" height="100%"/>`;
  return `${plot.text
    .replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace('</desc>', `</desc>\n${style}`)}\n`;
}
