/** A path with more segments than this is told apart no further: names of operations are labels of metrics. */
const MAX_SEGMENT_COUNT = 8;
const MAX_SEGMENT_LENGTH = 32;
const MAX_NAME_LENGTH = 200;

/**
 * Names what is called, the same for each call of the same kind: `GET payments:8080/charges/:id`. The query is left out,
 * and so is every segment that looks like the name of one thing: digits alone, eight or more of them, or a long one.
 * @param authority `payments:8080`; empty for an inbound operation
 * @param path the path, with or without a query
 */
export function operationName(method: string, authority: string, path: string): string {
  const name = `${method} ${authority}${pathPattern(path)}`;
  return name.length > MAX_NAME_LENGTH ? name.slice(0, MAX_NAME_LENGTH) : name;
}

/** Names made lately: most requests are about few things, and a name is made of many small pieces. */
const MAX_KEPT_COUNT = 2000;

/** Remembers what names were made of. */
export class NameMemory<Made> {
  readonly #byMethod = new Map<string, Map<string, Made>>();
  readonly #make: (method: string, text: string) => Made;
  #count = 0;

  constructor(make: (method: string, text: string) => Made) {
    this.#make = make;
  }

  of(method: string, text: string): Made {
    const known = this.#byMethod.get(method)?.get(text);
    if (known !== undefined) return known;
    if (this.#count >= MAX_KEPT_COUNT) {
      this.#byMethod.clear();
      this.#count = 0;
    }
    const made = this.#make(method, text);
    const ofMethod = this.#byMethod.get(method) ?? new Map<string, Made>();
    this.#byMethod.set(method, ofMethod.set(text, made));
    this.#count += 1;
    return made;
  }
}

function pathPattern(path: string): string {
  const end = endOfPath(path);
  if (end <= 1) return '/';
  let pattern = '';
  let count = 0;
  let from = path.charCodeAt(0) === 0x2f ? 1 : 0;
  while (from <= end) {
    const slash = path.indexOf('/', from);
    const to = slash === -1 || slash > end ? end : slash;
    if (count === MAX_SEGMENT_COUNT) return `${pattern}/*`;
    pattern += isIdentifier(path, from, to) ? '/:id' : `/${path.slice(from, to)}`;
    count += 1;
    from = to + 1;
  }
  return pattern;
}

function endOfPath(path: string): number {
  for (let i = 0; i < path.length; i += 1) {
    const code = path.charCodeAt(i);
    if (code === 0x3f || code === 0x23) return i;
  }
  return path.length;
}

function isIdentifier(path: string, from: number, to: number): boolean {
  if (to - from > MAX_SEGMENT_LENGTH) return true;
  let digitCount = 0;
  for (let i = from; i < to; i += 1) {
    const code = path.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) digitCount += 1;
  }
  return digitCount > 0 && (digitCount === to - from || digitCount >= 8);
}
