/** A 32-bit hash of a text (FNV-1a over UTF-16 units, then mixed). The same everywhere: replicas agree on it. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mixBits(hash);
}

/** Spreads two hashes over 32 bits as one: a change of any bit of either changes about half of the result. */
export function combineHashes(first: number, second: number): number {
  return mixBits(Math.imul(first, 0x9e3779b1) ^ second);
}

/** The finalizer of MurmurHash3: FNV alone leaves texts that differ in their last character close together. */
function mixBits(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
