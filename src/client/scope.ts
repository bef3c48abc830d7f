/**
 * Which requests a retry policy is for.
 * - `api.example.com`: this host, any port; with `:8443`, this port.
 * - `.example.com`: every host below `example.com`, and not `example.com` itself.
 * - a list: one of these.
 * - a function: what it says.
 * - `never`: none.
 */
export type Scope = string | readonly string[] | ((url: URL) => boolean);

/** Whether a request to this URL is in the scope. */
export type ScopeTest = (url: URL) => boolean;

/**
 * @returns `undefined` for a scope that was not given: everything is in it
 * @throws TypeError for a host that is none, naming it
 */
export function createScopeTest(scope: Scope | undefined): ScopeTest | undefined {
  if (scope === undefined) return undefined;
  if (typeof scope === 'function') return scope;
  if (scope === 'never') return () => false;
  const hosts = (typeof scope === 'string' ? [scope] : [...scope]).map(readHost);
  return (url) => hosts.some((isIn) => isIn(url));
}

function readHost(text: string): ScopeTest {
  // Whoever copies a URL here means its host, and would otherwise get a scope that nothing is ever in.
  if (
    typeof text !== 'string' ||
    !/^(?:\.?[^\s./:@[\]]+(?:\.[^\s./:@[\]]+)*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(text)
  ) {
    throw new TypeError(
      `retry.scope: ${JSON.stringify(text)} is not a host; write api.example.com, api.example.com:8443, .example.com for all below it, or never`,
    );
  }
  const host = text.toLowerCase();
  if (host.startsWith('.')) return (url) => url.hostname.endsWith(host);
  return /:\d{1,5}$/.test(host) && !host.endsWith(']')
    ? (url) => `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}` === host
    : (url) => url.hostname === host;
}
