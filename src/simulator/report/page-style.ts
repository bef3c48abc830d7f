import { COLOURS, PLOT_STYLE } from './plot-style.ts';

/** The page's own style; nothing is fetched. */
export const PAGE_STYLE: string = `${COLOURS}
${PLOT_STYLE}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px;max-width:1360px;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}h2{font-size:19px;margin:40px 0 12px;padding-top:12px;border-top:1px solid var(--grid)}
p{margin:0 0 12px;max-width:80ch}.lead{color:var(--quiet)}
.notice{border:2px solid var(--band-ink);background:var(--band);padding:10px 14px;border-radius:6px;font-weight:600}
.modes{display:grid;grid-template-columns:repeat(auto-fit,minmax(290px,1fr));gap:16px;margin:20px 0;padding:0;list-style:none}
.mode{border:1px solid var(--grid);border-left:6px solid var(--quiet);border-radius:6px;padding:12px 16px;break-inside:avoid}
${Array.from({ length: 6 }, (_, index) => `.mode-${index}{border-left-color:var(--line-${index})}`).join('')}
.mode h3{margin:0;font-size:17px}.mode .meaning{color:var(--quiet);font-size:13px;margin:0 0 8px}.mode .verdict{font-weight:600;margin:0}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));gap:20px}
figure{margin:0;border:1px solid var(--grid);border-radius:6px;padding:12px;break-inside:avoid;overflow-x:auto}
figure svg{display:block;width:100%;height:auto}
details{margin-top:8px;font-size:13px}summary{cursor:pointer;color:var(--quiet)}
table{border-collapse:collapse;margin-bottom:18px;font-variant-numeric:tabular-nums;font-size:13px;width:100%}
caption{text-align:left;color:var(--quiet);padding:4px 0}
th,td{padding:4px 10px;text-align:right;border-bottom:1px solid var(--grid);vertical-align:top}
th:first-child{text-align:left;font-weight:500;overflow-wrap:anywhere}thead th{color:var(--quiet);font-weight:600;white-space:nowrap}
.stack{display:grid;gap:12px}.wide{overflow-x:auto}ul.plain{margin:0 0 12px;padding-left:20px}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 12px;padding:0;list-style:none;font-size:13px;color:var(--quiet)}
.swatch{display:inline-block;width:14px;height:14px;border-radius:3px;vertical-align:-2px;margin-right:6px;border:1.5px solid}
${['calm', 'warm', 'hot', 'blaze'].map((heat) => `.swatch.${heat}{background:var(--${heat});border-color:var(--${heat}-ink)}`).join('')}
@media print{body{max-width:none;padding:0;font-size:12px}h2{break-after:avoid}.plots{grid-template-columns:1fr 1fr}figure{overflow:visible}figure svg{min-width:0!important}#loads+.plots{grid-template-columns:1fr}.plots details::details-content{content-visibility:visible;block-size:auto}}`;
