import { parseConfig } from '../../src/config/parse.ts';
import { formatFault } from '../../src/config/fault.ts';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import { fail } from 'node:assert/strict';

/** The smallest gateway file. */
export const smallest: string = `listeners:
  - address: 127.0.0.1:0
upstreams:
  orders:
    endpoints: [127.0.0.1:9001]
routes:
  - upstream: orders
`;

/** The smallest file with more settings on its one route, written at 4 spaces. */
export function withRoute(lines: string): string {
  return `${smallest}${lines.replace(/^/gm, '    ')}\n`;
}

/** The smallest file with more settings on its one upstream, from line 6 on, written at 4 spaces. */
export function withUpstream(lines: string): string {
  return smallest.replace('routes:', `${lines.replace(/^/gm, '    ')}\nroutes:`);
}

/** Every fault as it is printed, the file's name left out. */
export function faultsOf(text: string): string[] {
  const result = parseConfig(text, 'f');
  return (result.ok ? result.warnings : result.faults).map((fault) => formatFault(fault).slice('f:'.length));
}

export function configOf(text: string): GatewayConfig {
  const result = parseConfig(text, 'f');
  if (!result.ok) fail(result.faults.map(formatFault).join('\n'));
  return result.config;
}
