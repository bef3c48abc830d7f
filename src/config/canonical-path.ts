/**
 * The one form of a path: routes are matched on it and the upstream gets it, so the two cannot disagree about what
 * was asked (a request that slips past `/admin` as `//admin` or `/x/..;/admin`).
 *
 * - Percent-encoded letters, digits and `-._~` are decoded; other escapes stay, in upper case (RFC 3986 §6.2.2).
 *   `%2F` stays `%2F`: it is part of a segment, never a separator.
 * - Repeated slashes become one.
 * - Dot-segments (`.`, `..`, also as `%2e`, also before `;` or next to `%2F` or `%5C`) are refused: clients resolve them before
 *   they send, so one that arrives is an attack or a fault.
 * - Refused too: `\`, NUL, control characters, spaces, bytes outside ASCII, `#`, broken escapes, `%00`.
 * - `;` has no meaning: `/orders;v=1` is the segment `orders;v=1`.
 */
export type CanonicalPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

const needsWork = /[^\w\-.~!$&'()*+,;=:@/]|\/[/.]/;
const refused = /[^\w\-.~!$&'()*+,;=:@/%"<>[\]^`{|}]/;
const brokenEscape = /%(?![0-9a-f]{2})/i;
const dotSegment = /(?:^|\/|%2f|%5c)\.{1,2}(?=$|\/|;|%2f|%5c|%3b)/i;

/** @param path Begins with `/`; without the query. */
export function canonicalPath(path: string): CanonicalPath {
  if (path.charCodeAt(0) !== 0x2f) return { ok: false, reason: 'the path does not begin with /' };
  if (!needsWork.test(path)) return { ok: true, path };
  if (refused.test(path)) return { ok: false, reason: 'the path holds a character that must be percent-encoded' };
  if (brokenEscape.test(path)) return { ok: false, reason: 'the path holds a broken percent escape' };
  const decoded = path.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : escape.toUpperCase();
  });
  if (decoded.includes('%00')) return { ok: false, reason: 'the path holds a NUL' };
  const merged = decoded.replace(/\/{2,}/g, '/');
  if (dotSegment.test(merged)) return { ok: false, reason: 'the path holds a dot-segment' };
  return { ok: true, path: merged };
}

/** Whole segments: `/orders` is a prefix of `/orders`, `/orders/` and `/orders/1`, not of `/ordersx`; `/orders/` of the same (Gateway API's PathPrefix). */
export function hasPrefix(path: string, prefix: string): boolean {
  const bare = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
  return path.startsWith(bare) && (path.length === bare.length || path.charCodeAt(bare.length) === 0x2f);
}
