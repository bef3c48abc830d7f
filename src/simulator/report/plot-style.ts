/** What is drawn the same way in every plot belongs to a mode by its place: colour and dashes, so that grey prints tell them apart. */
export const LINE_STYLE_COUNT = 6;

const LIGHT = `--paper:#ffffff;--ink:#1c2430;--quiet:#5b6675;--grid:#e3e7ec;--band:#f6d9d5;--band-ink:#9b2c1f;
--line-0:#c0392b;--line-1:#b87400;--line-2:#1f6fb2;--line-3:#2e7d4f;--line-4:#7b4fa3;--line-5:#4b5563;
--calm:#eef1f5;--warm:#ffe3b3;--hot:#f8b195;--blaze:#e66a5c;--calm-ink:#8a94a3;--warm-ink:#c98a1b;--hot-ink:#d9652b;--blaze-ink:#b3261e;`;

const DARK = `--paper:#14181f;--ink:#e6eaf0;--quiet:#9aa6b5;--grid:#2a313b;--band:#43242a;--band-ink:#ff9d92;
--line-0:#ff7b6b;--line-1:#f0b429;--line-2:#6cb6ff;--line-3:#63c88f;--line-4:#c39bff;--line-5:#aab4c0;
--calm:#232a34;--warm:#5a4413;--hot:#6e3a1f;--blaze:#842a24;--calm-ink:#6b7787;--warm-ink:#e0a83a;--hot-ink:#ff935c;--blaze-ink:#ff6b5e;`;

/** Colours for light, dark and paper. */
export const COLOURS: string = `:root{color-scheme:light dark;${LIGHT}}
@media (prefers-color-scheme:dark){:root{${DARK}}}
@media print{:root{${LIGHT}}}`;

/** How plots look; in a page, and within a picture that stands alone. */
export const PLOT_STYLE: string = `text{font:12px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.quiet{fill:var(--quiet)}.title{font-weight:600;font-size:14px}.grid{stroke:var(--grid);stroke-width:1}.axis{stroke:var(--quiet);stroke-width:1}
.band{fill:var(--band)}.band-text{fill:var(--band-ink);font-size:11px}
.line{fill:none;stroke-width:2;stroke-linejoin:round}.paper{fill:var(--paper)}
.reference{stroke:var(--quiet);stroke-width:1;stroke-dasharray:2 3;fill:none}
${['', '7 3', '2 2', '9 3 2 3', '4 4', '1 3']
  .map((dashes, index) => {
    const dash = dashes === '' ? '' : `;stroke-dasharray:${dashes}`;
    return `.line-${index}{stroke:var(--line-${index})${dash}}.bar-${index}{fill:var(--line-${index})}`;
  })
  .join('')}
.node{stroke-width:1.5}.edge{fill:none}
${['calm', 'warm', 'hot', 'blaze'].map((heat) => `.node.${heat}{fill:var(--${heat});stroke:var(--${heat}-ink)}.edge.${heat}{stroke:var(--${heat}-ink)}.arrow.${heat}{fill:var(--${heat}-ink)}`).join('')}`;
