import type { GatewayConfig } from '../../config/gateway-config.ts';

const HIDDEN = '(hidden)';
const SECRET_NAME = /authorization|cookie|token|secret|passw|credential|private|api[-_]?key/i;

/**
 * The effective configuration for people. Secrets do not stand in a gateway file, but people write header values and
 * URLs into it that are secrets all the same: what is named like one is hidden, places of secrets are shown.
 */
export function shownConfig(config: GatewayConfig): unknown {
  return withoutSecrets(config, '');
}

function withoutSecrets(value: unknown, name: string): unknown {
  if (typeof value === 'string') return SECRET_NAME.test(name) ? HIDDEN : withoutUserinfo(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const ownName = 'name' in value && typeof value.name === 'string' ? value.name : '';
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, withoutSecrets(inner, key === 'value' && ownName !== '' ? ownName : key)]),
  );
}

function withoutUserinfo(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`);
}
