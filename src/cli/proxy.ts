import { readAddress } from '../config/address.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { parseConfig } from '../config/parse.ts';
import { UsageError } from './exit-code.ts';
import { runGateway } from './run-gateway.ts';

export interface ProxyOptions {
  readonly listen: string;
  readonly to: readonly string[];
  readonly retries?: string;
  readonly on?: string;
  readonly codes?: string;
  readonly accessLog: string;
}

/** `mulligan proxy`: a gateway of one listener, one upstream and one route. */
export async function proxy(options: ProxyOptions): Promise<void> {
  const { gateway, say, announce } = await runGateway(proxyConfig(options));
  announce();
  const { upstreams } = gateway.config;
  say(
    'info',
    `forwarding to ${upstreams.flatMap(({ endpoints }) => endpoints.map(({ address }) => address.key)).join(', ')}`,
  );
}

/**
 * The configuration that the options stand for: the same as that of a file, checked the same way.
 * @throws UsageError naming the option
 */
export function proxyConfig(options: ProxyOptions): GatewayConfig {
  const listen = readAddress(options.listen, 'listener');
  if (!listen.ok) throw new UsageError(`--listen ${options.listen}: ${listen.message} (${listen.hint})`);
  // Enough to come to every endpoint, so that one that works is found whatever the others do.
  const attempts =
    options.retries === undefined
      ? Math.max(1, options.to.length - 1)
      : wholeNumber('--retries', options.retries, 0, 100);
  const retry = {
    attempts,
    ...(options.on === undefined ? {} : { on: listOf(options.on) }),
    ...(options.codes === undefined
      ? {}
      : { codes: listOf(options.codes).map((code) => wholeNumber('--codes', code, 400, 599)) }),
  };
  const file = {
    listeners: [{ address: options.listen }],
    upstreams: { origin: { endpoints: options.to.map(endpointOf), outlierDetection: {} } },
    routes: [{ name: 'all', upstream: 'origin', retry }],
    accessLog: { path: options.accessLog },
  };
  // JSON is YAML: one reader, one set of rules, one set of words.
  const result = parseConfig(JSON.stringify(file), 'options');
  if (result.ok) return result.config;
  const fault = result.faults.find(({ severity }) => severity === 'error');
  throw new UsageError(
    fault === undefined
      ? 'the options make no configuration'
      : `${optionOf(fault.path)}: ${fault.message} (${fault.hint})`,
  );
}

function listOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function wholeNumber(option: string, text: string, lowest: number, highest: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (value < lowest || value > highest)
    throw new UsageError(`${option} ${text}: give a whole number from ${lowest} to ${highest}`);
  return value;
}

/** `http://host:port`, or `host:port`. */
function endpointOf(text: string): string {
  const refuse = (what: string): never => {
    throw new UsageError(`--to ${text}: ${what}`);
  };
  const match = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/?#]*)(.*)$/is.exec(text);
  const [, scheme, authority = '', rest = ''] = match ?? [];
  if (scheme !== undefined && scheme.toLowerCase() !== 'http')
    refuse(
      scheme.toLowerCase() === 'https'
        ? 'TLS towards a server takes a gateway file (upstreams.NAME.tls, and `mulligan serve`); use http here'
        : `${scheme} is no scheme of an origin; use http`,
    );
  if (authority.includes('@')) refuse('user names do not belong here; requests carry their own Authorization');
  if (rest !== '' && rest !== '/')
    refuse('paths are not supported: requests keep their own; write only http://host:port');
  // A URL may leave its port out, an address may not.
  const address = scheme !== undefined && !/:\d+$/.test(authority) ? `${authority}:80` : authority;
  const reading = readAddress(address, 'endpoint');
  return reading.ok ? reading.value.key : refuse(`${reading.message} (${reading.hint})`);
}

function optionOf(path: string): string {
  if (path.startsWith('upstreams')) return '--to';
  if (path.startsWith('routes[0].retry.on')) return '--on';
  if (path.startsWith('routes[0].retry.codes')) return '--codes';
  return path.startsWith('accessLog') ? '--access-log' : 'options';
}
