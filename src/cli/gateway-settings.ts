import { formatFault } from '../config/fault.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { parseConfig } from '../config/parse.ts';
import { UsageError } from './exit-code.ts';

/** What no Kubernetes resource says, and the command line can. */
export interface SettingOptions {
  readonly admin?: string | undefined;
  readonly accessLog?: string | undefined;
}

export type GatewaySettings = Pick<GatewayConfig, 'admin' | 'accessLog'>;

/**
 * The settings as a gateway file would have them, checked like those of one.
 * @throws UsageError for an address or path that a gateway file could not have either
 */
export function gatewaySettings({ admin, accessLog }: SettingOptions): GatewaySettings {
  const file = {
    listeners: [{ address: '127.0.0.1:0' }],
    upstreams: { any: { endpoints: ['127.0.0.1:1'] } },
    routes: [{ upstream: 'any' }],
    ...(admin === undefined ? {} : { admin: { address: admin } }),
    ...(accessLog === undefined ? {} : { accessLog: { path: accessLog } }),
  };
  const parsed = parseConfig(JSON.stringify(file), 'command line');
  if (!parsed.ok) throw new UsageError(parsed.faults.map((fault) => formatFault(fault)).join('\n'));
  return { admin: parsed.config.admin, accessLog: parsed.config.accessLog };
}
